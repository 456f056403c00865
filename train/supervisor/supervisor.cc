// Beginning a run: arguments, session, services.
#include "train/supervisor/supervisor.h"

#include <utility>

#include "graph/error.h"
#include "graph/io/file_system.h"
#include "graph/log.h"
#include "train/supervisor/carried_error.h"
#include "train/supervisor/standard_services.h"
#include "train/supervisor/supervisor_state.h"

namespace runnel {
namespace {

void require_period(const char* name, double seconds, Location where) {
  if (!(seconds >= 0))
    throw InvalidArgument(cat("Supervisor: ", name, " is ", seconds, "; it must be 0, for none, or more"),
                          where);
}

const SupervisorOptions& checked(const SupervisorOptions& o) {
  require_period("save_summaries_secs", o.save_summaries_secs, o.where);
  require_period("save_model_secs", o.save_model_secs, o.where);
  require_period("stop_grace_secs", o.stop_grace_secs, o.where);
  if (o.checkpoint_basename.empty())
    throw InvalidArgument("Supervisor: checkpoint_basename is empty; leave it out for 'model.ckpt'", o.where);
  if (base_name_of(o.checkpoint_basename) != o.checkpoint_basename)
    throw InvalidArgument(cat("Supervisor: checkpoint_basename is '", o.checkpoint_basename,
                              "', a path: checkpoints are looked for in logdir alone, so give a name"),
                          o.where);
  return o;
}

}  // namespace

// --- making and looking

Supervisor::State::State(Graph& g, SupervisorOptions o)
    : options(checked(std::move(o))),
      graph(g.shared()),
      ops(supervise(g, options)),
      files(options.file_system ? *options.file_system : real_file_system()),
      coord({.clock = options.clock}) {
  if (options.is_chief) {
    logdir = options.logdir;
    if (!logdir.empty()) save_path = join_path(logdir, options.checkpoint_basename);
    writer = make_writer();
  } else {
    require_devices(g, options.where);
  }
  if (!options.session_manager)
    own_manager = std::make_unique<SessionManager>(
        g, SessionManagerOptions{.local_init_op = ops.local_init_op,
                                 .ready_op = ops.ready_op,
                                 .ready_for_local_init_op = ops.ready_for_local_init_op,
                                 .recovery_wait_secs = options.recovery_wait_secs,
                                 .local_init_run_options = options.local_init_run_options,
                                 .clock = options.clock,
                                 .where = options.where});
  g.finalize();
}

std::shared_ptr<FileWriter> Supervisor::State::make_writer() const {
  if (options.summary_writer.has_value()) return options.summary_writer.value();
  if (options.summary_writer.is_none() || logdir.empty()) return nullptr;
  return std::make_shared<FileWriter>(
      logdir, FileWriterOptions{.clock = options.clock ? options.clock : &system_clock(), .files = &files});
}

Supervisor::Supervisor(Graph& graph, SupervisorOptions options)
    : state_(std::make_unique<State>(graph, std::move(options))) {}
Supervisor::Supervisor(SupervisorOptions options) : Supervisor(default_graph(), std::move(options)) {}

Supervisor::~Supervisor() {
  if (!state_->now().session) return;
  try {
    stop(StopOptions{}, true);
  } catch (...) {
    log_error(
        cat("a Supervisor that was not stopped ended with an error: ", text_of(std::current_exception())));
  }
}

bool Supervisor::should_stop() const { return state_->coord.should_stop(); }
void Supervisor::request_stop() { state_->coord.request_stop(); }
void Supervisor::request_stop(StopReason reason) { state_->coord.request_stop(std::move(reason)); }
void Supervisor::request_stop(std::exception_ptr error) { state_->coord.request_stop(std::move(error)); }
bool Supervisor::wait_for_stop() { return state_->coord.wait_for_stop(); }
StopReason Supervisor::stop_reason() const { return state_->coord.stop_reason(); }

bool Supervisor::is_chief() const { return state_->options.is_chief; }
const SessionManager& Supervisor::session_manager() const { return state_->manager(); }
Coordinator& Supervisor::coord() { return state_->coord; }
Operation Supervisor::init_op() const { return state_->ops.init_op; }
const std::vector<Feed>& Supervisor::init_feed_dict() const { return state_->options.init_feed_dict; }
Operation Supervisor::local_init_op() const { return state_->ops.local_init_op; }
Output Supervisor::ready_op() const { return state_->ops.ready_op; }
Output Supervisor::ready_for_local_init_op() const { return state_->ops.ready_for_local_init_op; }
std::shared_ptr<FileWriter> Supervisor::summary_writer() const { return state_->writer; }
Output Supervisor::summary_op() const { return state_->ops.summary_op; }
double Supervisor::save_summaries_secs() const {
  return is_chief() ? state_->options.save_summaries_secs : 0;
}
Output Supervisor::global_step() const { return state_->ops.global_step; }
Saver* Supervisor::saver() const { return state_->ops.saver.get(); }
double Supervisor::save_model_secs() const { return is_chief() ? state_->options.save_model_secs : 0; }
const std::string& Supervisor::save_path() const { return state_->save_path; }

// --- beginning a run

PreparedSession Supervisor::State::prepare_as_chief(const PrepareOrWaitOptions& o, SessionOptions config) {
  return manager().prepare({.master = o.master,
                            .init_op = ops.init_op,
                            .saver = ops.saver.get(),
                            .checkpoint_dir = logdir,
                            .wait_for_checkpoint = o.wait_for_checkpoint,
                            .max_wait_secs = o.max_wait_secs,
                            .config = std::move(config),
                            .init_feed_dict = options.init_feed_dict,
                            .init_fn = options.init_fn,
                            .coord = &coord,
                            .restore = options.restore});
}

void Supervisor::State::begin(PreparedSession prepared) {
  Run next;
  next.session = prepared.session;
  if (ops.saver && !save_path.empty()) {
    next.saver = std::make_shared<StepSaver>(ops.saver, save_path, ops.global_step, writer);
    const bool whole = prepared.report.missing.empty() && prepared.report.mismatched.empty();
    if (whole && !prepared.restored_from.empty())
      next.saver->note_restored(*prepared.session, prepared.restored_from);
  }
  next.ends_waits = coord.on_stop([this, session = std::weak_ptr<Session>(prepared.session)] {
    if (const auto held = session.lock()) held->stop_waiting(coord.stop_reason().text);
  });
  const std::lock_guard hold(mutex);
  run = std::move(next);
}

// Where training goes on; TensorBoard drops what older files of the directory hold from there. It takes no
// notice of a run's first START, hence two.
void Supervisor::State::write_start(Session& session) {
  if (!writer || !ops.global_step) return;
  {
    const std::lock_guard hold(mutex);
    if (std::exchange(run.wrote_start, true)) return;
  }
  const std::int64_t step = read_step(session, ops.global_step);
  for (int i = 0; i < (step > 0 ? 2 : 1); ++i) writer->add_session_log(SessionStatus::kStart, step);
}

void Supervisor::State::write_graph() const {
  if (writer) writer->add_graph(*graph);
  if (logdir.empty()) return;
  try {
    make_directories(files, logdir);
    write_file_atomically(files, join_path(logdir, "graph.pbtxt"),
                          graph->to_graph_def_text({.add_shapes = true}));
  } catch (const Error& error) {
    log_warning(cat("graph.pbtxt is not written, training goes on: ", error.message()));
  }
}

std::shared_ptr<Session> Supervisor::prepare(const PrepareOrWaitOptions& o) {
  State& s = *state_;
  if (s.writer) s.writer->reopen();
  s.writing = s.writer != nullptr;
  SessionOptions config = o.config;
  if (!config.file_system) config.file_system = s.options.file_system;
  PreparedSession prepared =
      is_chief()
          ? s.prepare_as_chief(o, config)
          : PreparedSession{s.manager().wait_for_session(
                {.master = o.master, .config = config, .max_wait_secs = o.max_wait_secs, .coord = &s.coord})};
  const std::shared_ptr<Session> session = prepared.session;
  s.begin(std::move(prepared));
  if (is_chief()) {
    if (o.start_standard_services && !s.logdir.empty()) s.write_start(*session);
    s.write_graph();
    if (o.start_standard_services) {
      log_info("Starting standard services.");
      start_standard_services(*session);
    }
  }
  if (o.start_standard_services) {
    log_info("Starting queue runners.");
    start_queue_runners(*session);
  }
  return session;
}

std::shared_ptr<Session> Supervisor::prepare_or_wait_for_session(PrepareOrWaitOptions options) {
  state_->coord.clear_stop();
  return prepare(options);
}

void Supervisor::start_standard_services(Session& session) {
  State& s = *state_;
  const SupervisorOptions& o = s.options;
  if (!is_chief())
    throw FailedPrecondition(
        "Only chief supervisor can start standard services: those who are not rely on the chief's", o.where);
  if (s.logdir.empty()) {
    log_warning("Standard services need a 'logdir' passed to the Supervisor: none is started");
    return;
  }
  s.write_start(session);
  const ServiceTools tools{session.share(), s.writer, s.watchdog(), s.ops.global_step};
  if (o.save_summaries_secs > 0 && s.writer) {
    if (s.ops.summary_op) start_summary_service(s.coord, tools, s.ops.summary_op, o.save_summaries_secs);
    if (s.ops.global_step)
      start_step_counter(s.coord, tools, s.ops.step_name + "/sec", o.save_summaries_secs);
  }
  const std::shared_ptr<StepSaver> saver = s.now().saver;
  if (!saver || o.save_model_secs == 0) return;
  const CoordinatedThread thread =
      start_checkpoint_service(s.coord, tools, saver, o.save_model_secs)->thread();
  const std::lock_guard hold(s.mutex);
  s.run.checkpoints = thread;
}

std::vector<CoordinatedThread> Supervisor::start_queue_runners(Session& session) {
  if (session.graph().collection(keys::kQueueRunners).empty()) return {};
  return runnel::start_queue_runners(session, &state_->coord);
}

std::vector<CoordinatedThread> Supervisor::start_queue_runners(
    Session& session, const std::vector<QueueRunner>& queue_runners) {
  std::vector<CoordinatedThread> all;
  for (const QueueRunner& runner : queue_runners)
    for (const CoordinatedThread& thread : runner.create_threads(session, &state_->coord, {.start = true}))
      all.push_back(thread);
  return all;
}

std::shared_ptr<LooperThread> Supervisor::loop(std::optional<double> secs, std::function<void()> target) {
  // What `target` knows of the session stays there as long as the thread.
  auto call = [target = std::move(target), session = state_->now().session] { target(); };
  if (!secs || *secs == 0) return LooperThread::loop(state_->coord, secs, std::move(call), "loop");
  return start_service(state_->coord, state_->watchdog(), "loop", "call of a loop", *secs, std::move(call));
}

void Supervisor::summary_computed(Session& session, const Tensor& summary,
                                  std::optional<std::int64_t> global_step) {
  const State& s = *state_;
  if (!s.writer)
    throw FailedPrecondition(
        "Writing a summary requires a summary writer: give the Supervisor a logdir or a summary_writer",
        s.options.where);
  if (!global_step) global_step = s.ops.global_step ? read_step(session, s.ops.global_step) : 0;
  s.writer->add_summary(summary, *global_step);
}

}  // namespace runnel
