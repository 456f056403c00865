// A save's order of operations, and the state behind it.
#include "train/checkpoint/saver.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>

#include "graph/log.h"
#include "graph/meta_graph.h"
#include "train/checkpoint/checkpoint_files.h"
#include "train/checkpoint/checkpoint_reader.h"
#include "train/checkpoint/checkpoint_recovery.h"
#include "train/checkpoint/checkpoint_state.h"
#include "train/checkpoint/kept_checkpoints.h"
#include "train/checkpoint/restore_check.h"

namespace runnel {
namespace {

int count_to_keep(const SaverOptions& options) {
  const int count = options.max_to_keep.value_or(0);
  if (count < 0)
    throw InvalidArgument(cat("max_to_keep is ", count, "; 0 keeps all checkpoints"), options.where);
  return count;
}

std::string prefix_of(const std::string& path, std::optional<std::int64_t> step, bool pad) {
  if (path.empty() || path.ends_with('/'))
    throw InvalidArgument(
        cat("'", path, "' is no path to save to: add a file name, as in ", path, "model.ckpt"));
  if (!step) return path;
  char number[32];
  std::snprintf(number, sizeof number, pad ? "%08lld" : "%lld", static_cast<long long>(*step));
  return cat(path, "-", number);
}

void require_state_name(const std::string& name, const std::string& prefix) {
  if (name.empty() || name.find('/') != std::string::npos)
    throw InvalidArgument(
        cat("latest_filename is '", name,
            "': it must be a name without a directory; the state file lies beside the checkpoint"));
  if (name == base_name_of(prefix))
    throw InvalidArgument(cat("'", prefix, "' collides with the state file '", name,
                              "': save to another name, or give a latest_filename"));
}

// The graph is removed first and the data last: what a killed process leaves is a checkpoint, or data that
// the next save removes.
void delete_checkpoint(FileSystem& files, const std::string& prefix, const std::string& meta) {
  try {
    const std::string directory = parent_of(prefix);
    if (files.exists(meta)) files.remove(meta);
    if (files.exists(index_path(prefix))) files.remove(index_path(prefix));
    for (const std::string& name : files.list(directory))
      if (is_data_file(name, base_name_of(prefix))) files.remove(join_path(directory, name));
  } catch (const Error& error) {
    log_warning(cat("the old checkpoint '", prefix, "' is not deleted: ", error.message()));
  }
}

// Whether the state file names the checkpoint as the newest, after a failure to write it: it may be in place
// and only the sync of its directory have failed.
bool may_name(FileSystem& files, const std::string& prefix, const std::string& latest_filename) {
  try {
    const auto state = get_checkpoint_state(parent_of(prefix), {latest_filename, &files});
    return state && base_name_of(state->model_checkpoint_path) == base_name_of(prefix);
  } catch (const Error&) {
    return true;
  }
}

// Removes what a save to a prefix that was free has written, unless it comes to its end.
class Undo {
 public:
  Undo(FileSystem& files, std::string prefix, std::string meta)
      : files_(files),
        prefix_(std::move(prefix)),
        meta_(std::move(meta)),
        armed_(!files.exists(index_path(prefix_))) {}
  ~Undo() {
    if (!armed_) return;
    for (const std::string& path : {meta_, index_path(prefix_), data_path(prefix_, 0, 1)})
      remove_quietly(files_, path);
  }
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;
  void keep() { armed_ = false; }

 private:
  FileSystem& files_;
  const std::string prefix_, meta_;
  bool armed_;
};

}  // namespace

std::optional<std::int64_t> SaveStep::in(Session& session) const {
  if (const auto* number = std::get_if<std::int64_t>(&value_)) return *number;
  const auto* tensor = std::get_if<Output>(&value_);
  if (!tensor) return {};
  const Tensor value = session.run(*tensor);
  if ((value.dtype() != DType::kInt32 && value.dtype() != DType::kInt64) || value.elements() != 1)
    throw InvalidArgument(cat("global_step '", tensor->name(), "' is ", value.dtype(), value.shape(),
                              ": it must be an integer scalar"));
  return integers(value)[0];
}

class Saver::State {
 public:
  State(Graph& graph, SaverNodes nodes, SaverDef def, const SaverOptions& options)
      : graph_(graph.shared()),
        nodes_(nodes),
        def_(std::move(def)),
        pad_step_number_(options.pad_step_number),
        clock_(options.clock ? *options.clock : system_clock()),
        restored_(restored_by(nodes.restore)),
        start_(clock_.now()) {}

  static std::unique_ptr<State> add(Graph& graph, std::vector<SaverItem> items, const SaverOptions& o) {
    const int keep = count_to_keep(o);
    const SaverNodes nodes =
        add_saver_nodes(graph, std::move(items), {.name = o.name, .reshape = o.reshape, .where = o.where});
    SaverDef def{.filename_tensor = nodes.filename.name(),
                 .save_tensor = nodes.save.name(),
                 .restore_op = nodes.restore.name(),
                 .max_to_keep = keep,
                 .keep_checkpoint_every_n_hours = o.keep_checkpoint_every_n_hours};
    return std::make_unique<State>(graph, nodes, std::move(def), o);
  }

  std::string save(Session& session, const std::string& path, const SaveOptions& o) {
    const std::lock_guard turn(mutex_);
    require_graph(session);
    FileSystem& files = session.files();
    const std::string prefix = prefix_of(path, o.global_step.in(session), pad_step_number_);
    require_state_name(o.latest_filename, prefix);
    const std::string graph = o.write_meta_graph ? meta_graph(o) : "";  // may be refused: before any file
    clean_up(files, path, o);
    const std::string meta = cat(prefix, ".", o.meta_graph_suffix);
    Undo undo(files, prefix, meta);
    session.run(nodes_.save, {{nodes_.filename, Tensor::scalar(prefix)}});
    if (o.write_meta_graph) write_file_atomically(files, meta, graph);
    if (o.write_state) keep(files, prefix, o, undo);
    undo.keep();
    return prefix;
  }

  void restore(Session& session, const std::string& prefix) {
    const std::lock_guard turn(mutex_);
    require_graph(session);
    FileSystem& files = session.files();
    require_restorable(CheckpointReader(prefix, {.file_system = &files}), restored_);
    session.run(nodes_.restore, {{nodes_.filename, Tensor::scalar(prefix)}});
    recover_from_state(files, prefix);
  }

  void recover(FileSystem& files, std::span<const std::string> prefixes) {
    const std::lock_guard turn(mutex_);
    std::map<std::string, std::vector<KeptCheckpoint>> found;
    for (const std::string& prefix : prefixes)
      if (files.exists(index_path(prefix)))
        found[parent_of(prefix)].push_back({prefix, files.modified(index_path(prefix))});
    for (auto& [directory, list] : found) kept_in(directory).recover(std::move(list), 0);
  }

  std::vector<std::string> last_checkpoints() const {
    const std::lock_guard turn(mutex_);
    std::vector<KeptCheckpoint> all;
    for (const auto& [directory, kept] : kept_) all.insert(all.end(), kept.list().begin(), kept.list().end());
    std::ranges::stable_sort(all, {}, &KeptCheckpoint::time);
    std::vector<std::string> prefixes;
    for (KeptCheckpoint& one : all) prefixes.push_back(std::move(one.prefix));
    return prefixes;
  }

  const SaverDef& def() const { return def_; }
  const SaverNodes& nodes() const { return nodes_; }

 private:
  void require_graph(const Session& session) const {
    if (session.graph() != *graph_)
      throw InvalidArgument("the session is of another graph than the Saver; make a Saver of its graph");
  }

  std::string meta_graph(const SaveOptions& o) const {
    return export_meta_graph_def(*graph_,
                                 {.saver_def = def_.bytes(), .strip_default_attrs = o.strip_default_attrs});
  }

  static void clean_up(FileSystem& files, const std::string& path, const SaveOptions& o) {
    const std::string directory = parent_of(path);
    if (!files.is_directory(directory)) return;
    clean_up_interrupted_saves(files, directory, base_name_of(path));
    clean_up_interrupted_saves(files, directory, o.latest_filename);
  }

  KeptCheckpoints& kept_in(const std::string& directory) {
    const KeepRule rule{.newest = def_.max_to_keep, .hours_apart = def_.keep_checkpoint_every_n_hours};
    return kept_.try_emplace(directory, rule, start_).first->second;
  }

  // Names the new checkpoint in the state file, then deletes what is too old. The list changes only once the
  // file has changed.
  void keep(FileSystem& files, const std::string& prefix, const SaveOptions& o, Undo& undo) {
    KeptCheckpoints& kept = kept_in(parent_of(prefix));
    KeptCheckpoints next = kept;
    const std::vector<std::string> dropped = next.add({prefix, clock_.now()});
    UpdateCheckpointStateOptions state{.latest_filename = o.latest_filename,
                                       .last_preserved_timestamp = next.last_preserved(),
                                       .file_system = &files};
    for (const KeptCheckpoint& one : next.list()) {
      state.all_model_checkpoint_paths.push_back(one.prefix);
      state.all_model_checkpoint_timestamps.push_back(one.time);
    }
    try {
      update_checkpoint_state(parent_of(prefix), prefix, std::move(state));
    } catch (const Error&) {
      if (may_name(files, prefix, o.latest_filename)) undo.keep();
      throw;
    }
    undo.keep();
    kept = std::move(next);
    for (const std::string& old : dropped) delete_checkpoint(files, old, cat(old, ".", o.meta_graph_suffix));
  }

  // A saver that has kept nothing in the directory yet goes on with the list of an earlier process, if the
  // checkpoint restored is one of it.
  void recover_from_state(FileSystem& files, const std::string& prefix) {
    const std::string directory = parent_of(prefix);
    if (kept_.contains(directory)) return;
    std::optional<CheckpointState> state;
    try {
      state = get_checkpoint_state(directory, {.file_system = &files});
    } catch (const DataLoss& error) {
      log_warning(cat("old checkpoints in '", directory, "' are not counted: ", error.message()));
    }
    if (!state) return;
    const auto& paths = state->all_model_checkpoint_paths;
    const auto& times = state->all_model_checkpoint_timestamps;
    const std::string beside = prefix.substr(0, prefix.rfind('/') + 1);  // the directory as it is spelled
    std::vector<KeptCheckpoint> list;
    bool named = false;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (parent_of(paths[i]) != directory || !files.exists(index_path(paths[i]))) continue;
      named |= base_name_of(paths[i]) == base_name_of(prefix);
      const bool dated = times.size() == paths.size();
      list.push_back(
          {beside + base_name_of(paths[i]), dated ? times[i] : files.modified(index_path(paths[i]))});
    }
    if (named) kept_in(directory).recover(std::move(list), state->last_preserved_timestamp);
  }

  const std::shared_ptr<Graph> graph_;
  const SaverNodes nodes_;
  const SaverDef def_;
  const bool pad_step_number_;
  Clock& clock_;
  const std::vector<RestoredTensor> restored_;
  const double start_;
  mutable std::mutex mutex_;
  std::map<std::string, KeptCheckpoints> kept_;  // by directory, as callers spell it
};

Saver::Saver(std::unique_ptr<State> state) : state_(std::move(state)) {}
Saver::~Saver() = default;
Saver::Saver(Saver&&) noexcept = default;
Saver& Saver::operator=(Saver&&) noexcept = default;

Saver::Saver(Graph& graph, SaverOptions o) {
  const std::vector<Variable> variables = graph.variables();
  state_ = State::add(graph, {variables.begin(), variables.end()}, o);
}
Saver::Saver(SaverOptions o) : Saver(default_graph(), std::move(o)) {}
Saver::Saver(Graph& graph, std::initializer_list<SaverItem> variables, SaverOptions o)
    : state_(State::add(graph, variables, o)) {}
Saver::Saver(Graph& graph, std::span<const SaverItem> variables, SaverOptions o)
    : state_(State::add(graph, {variables.begin(), variables.end()}, o)) {}

Saver Saver::from_saver_def(Graph& graph, std::string_view saver_def, SaverOptions o) {
  SaverDef def = SaverDef::parse(saver_def);
  const SaverNodes nodes = find_saver_nodes(graph, def);
  return Saver(std::make_unique<State>(graph, nodes, std::move(def), o));
}

std::string Saver::save(Session& session, const std::string& path, SaveOptions o) {
  return state_->save(session, path, o);
}
void Saver::restore(Session& session, const std::string& prefix) { state_->restore(session, prefix); }
std::vector<std::string> Saver::last_checkpoints() const { return state_->last_checkpoints(); }
void Saver::recover_last_checkpoints(FileSystem& files, std::span<const std::string> prefixes) {
  state_->recover(files, prefixes);
}
std::string Saver::saver_def() const { return state_->def().bytes(); }
const SaverNodes& Saver::nodes() const { return state_->nodes(); }

Saver import_meta_graph(Graph& graph, const std::string& path, ImportMetaGraphFileOptions o) {
  FileSystem& files = o.file_system ? *o.file_system : real_file_system();
  if (!files.exists(path) && files.exists(meta_path(path)))
    throw NotFound(
        cat("there is no '", path, "': pass '", meta_path(path), "', the graph of that checkpoint"));
  const std::string bytes = read_file(files, path);
  try {
    const MetaGraphInfo info = import_meta_graph_def(graph, bytes, {.clear_devices = o.clear_devices});
    return info.saver_def.empty() ? Saver(graph, o.saver)
                                  : Saver::from_saver_def(graph, info.saver_def, o.saver);
  } catch (const Error& error) {
    throw_error(error.code(), cat("'", path, "': ", error.message()), error.where(), error.node());
  }
}

}  // namespace runnel
