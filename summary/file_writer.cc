// Stamps events with time and step, serializes them on the caller's thread (the data may change once the call
// returns), and hands them to the EventWriter.
#include "summary/file_writer.h"

#include <mutex>
#include <set>
#include <utility>

#include "graph/error.h"
#include "graph/log.h"
#include "graph/meta_graph.h"
#include "summary/event_sink.h"
#include "summary/event_writer.h"
#include "summary/histogram.h"
#include "summary/shown_graph.h"
#include "summary/value.h"

namespace runnel {
namespace {

std::string checked_directory(const std::string& logdir) {
  if (logdir.empty())
    throw InvalidArgument("FileWriter: the log directory is empty; give \".\" for this one");
  return logdir;
}

std::string checked_suffix(const std::string& suffix) {
  if (suffix.find('/') != std::string::npos)
    throw InvalidArgument(cat("FileWriter: filename_suffix '", suffix, "' holds a slash"));
  return suffix;
}

}  // namespace

struct FileWriter::State {
  State(const std::string& directory, const FileWriterOptions& options)
      : logdir(checked_directory(directory)),
        clock(*options.clock),
        files(*options.files),
        sink(files, clock, logdir,
             {.filename_suffix = checked_suffix(options.filename_suffix), .purge_step = options.purge_step}),
        writer(sink, clock,
               {.max_queue = options.max_queue,
                .flush_secs = options.flush_secs,
                .must_open = options.must_open}) {}

  EventTime at(std::int64_t step) const { return {.wall = clock.now(), .step = step}; }

  template <class T>
  void histogram(const std::string& tag, std::span<const T> values, std::int64_t step,
                 HistogramOptions options) {
    const Histogram counts = histogram_of(values);
    if (!counts.all_finite()) {
      const std::string what = cat("histogram '", tag, "' at step ", step, ": ", left_out(counts));
      if (options.strict) throw InvalidArgument(what);
      warn_once(tag, cat(what, " left out; this is said once a tag"));
    }
    writer.add(summary_event(at(step), histogram_value(tag, counts)));
  }

  void warn_once(const std::string& tag, const std::string& what) {
    const std::lock_guard hold(mutex);
    if (warned.insert(tag).second) log_warning(what);
  }

  const std::string logdir;
  Clock& clock;
  FileSystem& files;
  std::mutex mutex;
  std::set<std::string> warned;  // tags whose values were not taken as they were
  EventSink sink;
  EventWriter writer;
};

FileWriter::FileWriter(const std::string& logdir, FileWriterOptions options)
    : state_(std::make_unique<State>(logdir, options)) {}
FileWriter::FileWriter(const std::string& logdir, const Graph& graph, FileWriterOptions options)
    : FileWriter(logdir, std::move(options)) {
  add_graph(graph);
}
FileWriter::~FileWriter() = default;
FileWriter::FileWriter(FileWriter&&) noexcept = default;
FileWriter& FileWriter::operator=(FileWriter&&) noexcept = default;

void FileWriter::add_own_summary(std::string_view summary, std::int64_t step) {
  state_->writer.add(summary_event(state_->at(step), std::string(summary)));
}

void FileWriter::warn_once(const std::string& tag, const std::string& what) { state_->warn_once(tag, what); }

void FileWriter::scalar(const std::string& tag, double value, std::int64_t step) {
  add_own_summary(scalar_value(tag, static_cast<float>(value)), step);
}

void FileWriter::histogram(const std::string& tag, std::span<const float> values, std::int64_t step,
                           HistogramOptions options) {
  state_->histogram(tag, values, step, options);
}

void FileWriter::histogram(const std::string& tag, std::span<const double> values, std::int64_t step,
                           HistogramOptions options) {
  state_->histogram(tag, values, step, options);
}

void FileWriter::add_summary(const std::string& summary, std::int64_t step) {
  state_->writer.add(summary_event(state_->at(step), summary));
}

void FileWriter::add_summary(const Tensor& summary, std::int64_t step) {
  if (summary.dtype() != DType::kString || summary.elements() != 1)
    throw InvalidArgument(cat("add_summary takes what a summary op gives, a string scalar; this is ",
                              summary ? cat(summary.dtype(), summary.shape()) : "no value",
                              ": fetch merge_all() or a summary op"));
  add_summary(summary.values<std::string>()[0], step);
}

void FileWriter::add_session_log(SessionStatus status, std::int64_t step, const std::string& checkpoint_path,
                                 const std::string& message) {
  state_->writer.add({session_log_event(state_->at(step), status, checkpoint_path, message)});
}

void FileWriter::add_graph(const Graph& graph, std::int64_t step) {
  std::string graph_def, meta_graph_def;
  try {
    graph_def = graph.to_graph_def({.add_shapes = true});
    meta_graph_def = export_meta_graph_def(graph);
  } catch (const Error& error) {
    return log_warning(cat("the graph is not written to the event file: ", error.message()));
  }
  add_graph_def(graph_def, step);
  add_meta_graph_def(meta_graph_def, step);
}

void FileWriter::add_graph_def(const std::string& graph_def, std::int64_t step) {
  state_->writer.add({graph_def_event(state_->at(step), shown_graph(graph_def))});
}

void FileWriter::add_meta_graph_def(const std::string& meta_graph_def, std::int64_t step) {
  state_->writer.add({meta_graph_def_event(state_->at(step), shown_meta_graph(meta_graph_def))});
}

void FileWriter::add_event(std::string event) { state_->writer.add(checked_event(std::move(event))); }

void FileWriter::flush() { state_->writer.flush(); }
void FileWriter::close() { state_->writer.close(); }
void FileWriter::reopen() { state_->writer.reopen(); }
double FileWriter::now() const { return state_->clock.now(); }
FileSystem& FileWriter::files() const { return state_->files; }
const std::string& FileWriter::get_logdir() const { return state_->logdir; }
std::int64_t FileWriter::lost() const { return state_->sink.lost(); }

}  // namespace runnel
