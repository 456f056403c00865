// A save's order of operations, and whose turn it is.
#include "train/checkpoint/saver.h"

#include <mutex>

#include "graph/log.h"
#include "graph/meta_graph.h"
#include "train/checkpoint/async_save.h"
#include "train/checkpoint/checkpoint_files.h"
#include "train/checkpoint/checkpoint_reader.h"
#include "train/checkpoint/neighbours.h"
#include "train/checkpoint/restore_plan.h"
#include "train/checkpoint/restored_tensors.h"
#include "train/checkpoint/retention.h"
#include "train/checkpoint/saver_files.h"

namespace runnel {
namespace {

void require_version(WriteVersion version, Location where) {
  if (version != WriteVersion::kV2)
    throw Unimplemented(cat("write_version is ", version == WriteVersion::kV1 ? "V1" : "LEGACY",
                            ": checkpoints are written in the V2 format only"),
                        where);
}

}  // namespace

class Saver::State {
 public:
  State(Graph& graph, const SaverOptions& options)
      : graph_(graph.shared()),
        options_(options),
        clock_(options.clock ? *options.clock : system_clock()),
        kept_({options.max_to_keep.value_or(0), options.keep_checkpoint_every_n_hours}, clock_.now()) {
    require_version(options.write_version, options.where);
  }

  // Of the graph's variables, or the SaverDef given. Once.
  void build() {
    const std::lock_guard turn(mutex_);
    if (built_ || empty_) return;
    if (!options_.saver_def.empty()) return use(SaverDef::parse(options_.saver_def));
    const std::vector<Variable> variables = graph_->variables();
    add({variables.begin(), variables.end()});
  }
  void build(std::vector<SaverItem> items) {
    const std::lock_guard turn(mutex_);
    if (!options_.saver_def.empty()) return use(SaverDef::parse(options_.saver_def));
    add(std::move(items));
  }
  void use(SaverDef def) {
    const SaverNodes nodes = find_saver_nodes(*graph_, def);
    kept_.set_rule({def.max_to_keep, def.keep_checkpoint_every_n_hours});
    built_.emplace(nodes, std::move(def), restored_by(nodes.restore, nodes.filename));
  }

  std::string save(Session& session, const std::string& path, const SaveOptions& o) {
    const std::lock_guard call(calls_);
    async_.wait();
    return save_now(session, path, o);
  }

  std::string save_async(Session& session, const std::string& path, const SaveOptions& o) {
    const std::lock_guard call(calls_);
    async_.wait();
    std::unique_lock turn(mutex_);
    const std::optional<Output> save = save_tensor(session);
    turn.unlock();
    SaveCut cut = read_cut(session, o.global_step, save, true);
    if (cut.values.empty()) return save_now(session, path, o);
    const std::string prefix = prefix_of(path, cut.step, options_.pad_step_number);
    require_names(prefix, o.latest_filename, o.meta_graph_suffix);
    async_.start(cat("the save to '", prefix, "'"),
                 [this, &files = session.files(), path, prefix, o, values = std::move(cut.values)] {
                   const std::lock_guard turn(mutex_);
                   write(session_aside(files), path, prefix, values, o);
                 });
    return prefix;
  }

  void wait() {
    const std::lock_guard call(calls_);
    async_.wait();
  }

  RestoreReport restore(Session& session, const std::string& prefix, const RestoreOptions& o) {
    const std::lock_guard call(calls_);
    async_.join();
    const std::lock_guard turn(mutex_);
    require_graph(session);
    if (empty_) return {};
    const Built& b = built("restore");
    FileSystem& files = session.files();
    const CheckpointReader reader(prefix, {.file_system = &files});
    const RestorePlan plan(reader, b.restored, o);
    log_info(cat("Restoring parameters from ", prefix));
    plan.run(session, b.nodes);
    if (o.partial) log_info(cat("checkpoint '", prefix, "': ", plan.report().text()));
    kept_.go_on_from(files, prefix);
    return plan.report();
  }

  void set_last(std::span<const KeptCheckpoint> checkpoints) {
    const std::lock_guard turn(mutex_);
    kept_.clear();
    kept_.take_over(checkpoints);
  }

  void recover(FileSystem& files, std::span<const std::string> prefixes) {
    const std::lock_guard turn(mutex_);
    std::vector<KeptCheckpoint> found;
    for (const std::string& prefix : prefixes)
      if (files.exists(index_path(prefix))) found.push_back({prefix, files.modified(index_path(prefix))});
    kept_.take_over(found);
  }

  std::vector<std::string> last_checkpoints() const {
    const std::lock_guard turn(mutex_);
    return kept_.all();
  }

  const Graph& graph() const { return *graph_; }
  std::optional<SaverDef> def() const {
    const std::lock_guard turn(mutex_);
    return built_ ? std::optional(built_->def) : std::nullopt;
  }
  const SaverNodes& nodes() const {
    const std::lock_guard turn(mutex_);
    return built("use its nodes").nodes;
  }

 private:
  struct Built {
    Built(SaverNodes n, SaverDef d, RestoredTensors r)
        : nodes(n), def(std::move(d)), restored(std::move(r)) {}
    SaverNodes nodes;
    SaverDef def;
    RestoredTensors restored;
  };

  const Built& built(const char* what) const {
    if (!built_)
      throw FailedPrecondition(
          cat("this Saver cannot ", what,
              " yet: ", empty_ ? "it has no variables" : "call build() first, which defer_build put off"),
          options_.where);
    return *built_;
  }

  void add(std::vector<SaverItem> items) {
    empty_ = items.empty() && options_.allow_empty;
    if (empty_) return;
    const SaverNodes nodes = add_saver_nodes(*graph_, std::move(items),
                                             {.name = options_.name,
                                              .reshape = options_.reshape,
                                              .sharded = options_.sharded,
                                              .filename = options_.filename,
                                              .where = options_.where});
    built_.emplace(nodes,
                   SaverDef{.filename_tensor = nodes.filename.name(),
                            .save_tensor = nodes.save.name(),
                            .restore_op = nodes.restore.name(),
                            .max_to_keep = options_.max_to_keep.value_or(0),
                            .keep_checkpoint_every_n_hours = options_.keep_checkpoint_every_n_hours,
                            .sharded = options_.sharded},
                   restored_by(nodes.restore, nodes.filename));
  }

  // What to fetch so that all is saved; none if there is nothing.
  std::optional<Output> save_tensor(const Session& session) const {
    require_graph(session);
    return empty_ ? std::nullopt : std::optional(built("save").nodes.save);
  }

  std::string save_now(Session& session, const std::string& path, const SaveOptions& o) {
    const std::lock_guard turn(mutex_);
    const SaveCut cut = read_cut(session, o.global_step, save_tensor(session));
    const std::string prefix = prefix_of(path, cut.step, options_.pad_step_number);
    require_names(prefix, o.latest_filename, o.meta_graph_suffix);
    write(session, path, prefix, cut.values, o);
    return empty_ ? "" : prefix;
  }

  void write(Session& session, const std::string& path, const std::string& prefix,
             const std::vector<Feed>& values, const SaveOptions& o) {
    FileSystem& files = session.files();
    const std::string graph = o.write_meta_graph ? meta_graph(o) : "";  // may be refused: before any file
    make_directories(files, parent_of(prefix));
    const auto lock = neighbours_.lock(files, parent_of(prefix));
    clean_up_killed_saves(files, path, o.latest_filename);
    const std::string meta = cat(prefix, ".", o.meta_graph_suffix);
    Undo undo(files, prefix, meta);
    if (!empty_) run_save(session, prefix, values);
    if (o.write_meta_graph) write_file_atomically(files, meta, graph);
    if (o.write_state && !empty_) keep(files, prefix, o, undo);
    undo.keep();
  }

  // Saves values that were read before, whatever becomes of the session that they are of.
  Session& session_aside(FileSystem& files) {
    if (!aside_ || &aside_->files() != &files)
      aside_ = std::make_unique<Session>(*graph_, SessionOptions{.intra_op_parallelism_threads = 1,
                                                                 .inter_op_parallelism_threads = 1,
                                                                 .file_system = &files});
    return *aside_;
  }

  void run_save(Session& session, const std::string& prefix, std::vector<Feed> feeds) {
    const SaverNodes& nodes = built_->nodes;
    feeds.push_back({nodes.filename, Tensor::scalar(prefix)});
    const Fetch fetches[] = {nodes.save};
    session.run(std::span<const Fetch>(fetches), std::span<const Feed>(feeds));
  }

  void require_graph(const Session& session) const {
    if (session.graph() != *graph_)
      throw InvalidArgument("the session is of another graph than the Saver; make a Saver of its graph");
  }

  std::string meta_graph(const SaveOptions& o) const {
    return export_meta_graph_def(*graph_, {.saver_def = built_ ? built_->def.bytes() : "",
                                           .strip_default_attrs = o.strip_default_attrs});
  }

  // Names the new checkpoint in the state file, then deletes what is too old.
  void keep(FileSystem& files, const std::string& prefix, const SaveOptions& o, Undo& undo) {
    const std::string state_path = join_path(parent_of(prefix), o.latest_filename);
    neighbours_.compare(files, state_path);
    std::vector<std::string> dropped;
    try {
      dropped = kept_.add(files, {prefix, clock_.now()}, o.latest_filename);
    } catch (const Error&) {
      if (state_may_name(files, prefix, o.latest_filename)) undo.keep();
      throw;
    }
    undo.keep();
    neighbours_.remember(files, state_path);
    for (const std::string& old : dropped) delete_checkpoint(files, old, o.meta_graph_suffix);
  }

  const std::shared_ptr<Graph> graph_;
  const SaverOptions options_;
  Clock& clock_;
  std::mutex calls_;          // of who saves or restores, to the end of the call
  mutable std::mutex mutex_;  // of what follows; the thread of an asynchronous save takes this one alone
  std::optional<Built> built_;
  bool empty_ = false;  // built, without variables
  Retention kept_;
  Neighbours neighbours_;
  std::unique_ptr<Session> aside_;
  AsyncSave async_;  // last: what it uses is there until its thread has ended
};

Saver::~Saver() = default;
Saver::Saver(Saver&&) noexcept = default;
Saver& Saver::operator=(Saver&&) noexcept = default;

Saver::Saver(Graph& graph, SaverOptions o) : state_(std::make_unique<State>(graph, o)) {
  if (!o.defer_build) state_->build();
}
Saver::Saver(SaverOptions o) : Saver(default_graph(), std::move(o)) {}
Saver::Saver(Graph& graph, std::initializer_list<SaverItem> variables, SaverOptions o)
    : Saver(graph, std::span(variables.begin(), variables.size()), std::move(o)) {}
Saver::Saver(Graph& graph, std::span<const SaverItem> variables, SaverOptions o)
    : state_(std::make_unique<State>(graph, o)) {
  if (o.defer_build)
    throw InvalidArgument(
        "a Saver of given variables is built at once: leave out defer_build, or the variables", o.where);
  state_->build({variables.begin(), variables.end()});
}

std::vector<SaverItem> Saver::items_of(const std::map<std::string, Variable>& variables) {
  std::vector<SaverItem> items;
  for (const auto& [name, variable] : variables) items.emplace_back(name, variable);
  return items;
}

Saver Saver::from_saver_def(Graph& graph, std::string_view saver_def, SaverOptions o) {
  o.saver_def = saver_def;
  return Saver(graph, std::move(o));
}
Saver Saver::from_proto(Graph& graph, std::string_view saver_def, std::string_view import_scope,
                        SaverOptions o) {
  return from_saver_def(graph, SaverDef::parse(saver_def).within(import_scope).bytes(), std::move(o));
}

void Saver::build() { state_->build(); }
std::string Saver::save(Session& session, const std::string& path, SaveOptions o) {
  return state_->save(session, path, o);
}
RestoreReport Saver::restore(Session& session, const std::string& prefix, RestoreOptions o) {
  return state_->restore(session, prefix, o);
}
std::string Saver::save_async(Session& session, const std::string& path, SaveOptions o) {
  return state_->save_async(session, path, o);
}
void Saver::wait() { state_->wait(); }
std::vector<std::string> Saver::last_checkpoints() const { return state_->last_checkpoints(); }
void Saver::recover_last_checkpoints(FileSystem& files, std::span<const std::string> prefixes) {
  state_->recover(files, prefixes);
}
void Saver::set_last_checkpoints_with_time(std::span<const KeptCheckpoint> checkpoints) {
  state_->set_last(checkpoints);
}
std::string Saver::saver_def() const { return to_proto(); }
std::string Saver::to_proto(std::string_view export_scope) const {
  std::optional<SaverDef> def = state_->def();
  if (def) def = def->without(export_scope);
  return def ? def->bytes() : "";
}
std::string Saver::export_meta_graph(ExportMetaGraphOptions o) const {
  o.saver_def = saver_def();
  return runnel::export_meta_graph(state_->graph(), o);
}
const SaverNodes& Saver::nodes() const { return state_->nodes(); }

}  // namespace runnel
