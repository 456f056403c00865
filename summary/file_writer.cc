// Serializes on the caller's thread, since the data may change once the call returns.
#include "summary/file_writer.h"

#include <functional>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/error.h"
#include "graph/io/crc32c.h"
#include "graph/log.h"
#include "graph/meta_graph.h"
#include "graph/runtime/run_metadata.h"
#include "graph/runtime/session.h"
#include "summary/events/event_writer.h"
#include "summary/events/shown_graph.h"
#include "summary/values/histogram.h"
#include "summary/values/media_value.h"
#include "summary/values/value.h"

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
  if (suffix.ends_with(".profile-empty"))
    throw InvalidArgument(cat("FileWriter: TensorBoard reads no file with the suffix '", suffix, "'"));
  return suffix;
}

template <class T>
T& given(T* borrowed, const char* name) {
  if (!borrowed) throw InvalidArgument(cat("FileWriter: ", name, " is null; leave it out for the machine's"));
  return *borrowed;
}

}  // namespace

struct FileWriter::State {
  State(const std::string& as_given, const FileWriterOptions& o)
      : logdir(checked_directory(as_given)),
        clock(given(o.clock, "clock")),
        files(given(o.files, "files")),
        directory(files.absolute(logdir)),
        writer(files, directory, clock,
               {.thread = {.max_queue = o.max_queue,
                           .flush_secs = o.flush_secs,
                           .patience_secs = o.patience_secs},
                .sink = {.filename_suffix = checked_suffix(o.filename_suffix),
                         .purge_step = o.purge_step,
                         .durability = o.sync ? Durability::kDisk : Durability::kSystem},
                .must_open = o.must_open}) {}

  template <class T>
  void histogram(const std::string& tag, std::span<const T> values, std::int64_t step,
                 HistogramOptions options) {
    const Histogram counts = histogram_of(values);
    const auto what = [&] { return cat("histogram '", tag, "' at step ", step, ": ", left_out(counts)); };
    if (options.strict && !counts.all_finite()) throw InvalidArgument(what());
    require_tag(tag);
    writer.add(EventField::kSummary, histogram_value(tag, counts), step);
    if (!counts.all_finite()) warn_once(tag, cat(what(), " left out; this is said once a tag"));
  }

  void run_metadata(const std::string& tag, std::string bytes, std::int64_t step) {
    require_tag(tag);
    const std::lock_guard hold(mutex);
    if (run_tags.contains(tag))
      throw InvalidArgument(cat("add_run_metadata: the tag '", tag,
                                "' is that of an earlier run; give each run one of its own, as 'step ", step,
                                "'"));
    writer.add(EventField::kTaggedRunMetadata, tagged_run_metadata(tag, std::move(bytes)), step);
    run_tags.insert(tag);
  }

  void throw_error_of_files() {
    const std::lock_guard hold(files_mutex);
    if (const auto error = std::exchange(error_of_files, std::nullopt))
      throw_error(error->code(), error->message());
  }

  void warn_once(const std::string& tag, const std::string& what) {
    const std::lock_guard hold(mutex);
    if (warned.insert(tag).second) log_warning(what);
  }

  void add_shown(EventField field, const std::string& graph, std::int64_t step) {
    {
      const std::lock_guard hold(mutex);
      if (!graphs.emplace(graph.size(), std::hash<std::string>()(graph), crc32c(graph)).second) return;
    }
    writer.add(field, graph, step);
  }

  const std::string logdir;
  Clock& clock;
  FileSystem& files;
  const std::string directory;
  EventWriter writer;
  std::mutex files_mutex;               // held while files beside the events are written; guards the next
  std::optional<Error> error_of_files;  // not thrown yet
  std::mutex mutex;                     // guards what follows
  std::set<std::string> run_tags;       // of run metadata
  std::set<std::string> warned;         // tags whose values were not taken as they were
  std::set<std::tuple<std::size_t, std::size_t, std::uint32_t>> graphs;  // fingerprints of those written
};

FileWriter::FileWriter(const std::string& logdir, FileWriterOptions options)
    : state_(std::make_unique<State>(logdir, options)) {}
FileWriter::FileWriter(const std::string& logdir, const Graph& graph, FileWriterOptions options)
    : FileWriter(logdir, std::move(options)) {
  add_graph(graph);
}
FileWriter::FileWriter(const std::string& logdir, const Session& session, FileWriterOptions options)
    : FileWriter(logdir, session.graph(), std::move(options)) {}
FileWriter::~FileWriter() = default;
FileWriter::FileWriter(FileWriter&&) noexcept = default;
FileWriter& FileWriter::operator=(FileWriter&&) noexcept = default;

void FileWriter::add_own_summary(std::string_view summary, std::int64_t step) {
  state_->writer.add(EventField::kSummary, summary, step, has_metadata(summary));
}

void FileWriter::add_image(const std::string& tag, const ImageSize& size, std::string_view file,
                           std::int64_t step) {
  require_tag(tag);
  state_->writer.add(EventField::kSummary, image_value_head(tag, size, file.size()), step, false, file);
}

void FileWriter::warn_once(const std::string& tag, const std::string& what) { state_->warn_once(tag, what); }

void FileWriter::scalar(std::string_view tag, double value, std::int64_t step) {
  state_->writer.add_scalar(tag, static_cast<float>(value), step);
}

void FileWriter::scalars(std::string_view main_tag, std::span<const NamedScalar> values, std::int64_t step) {
  std::vector<std::string> tags;
  std::vector<float> numbers;
  for (const NamedScalar& one : values) {
    tags.push_back(main_tag.empty() ? std::string(one.name) : cat(main_tag, "/", one.name));
    require_tag(tags.back());
    numbers.push_back(static_cast<float>(one.value));
  }
  add_own_summary(scalar_values(tags, numbers), step);
}

void FileWriter::scalars(std::string_view main_tag, std::initializer_list<NamedScalar> values,
                         std::int64_t step) {
  scalars(main_tag, std::span<const NamedScalar>(values.begin(), values.size()), step);
}

void FileWriter::histogram(const std::string& tag, std::span<const float> values, std::int64_t step,
                           HistogramOptions options) {
  state_->histogram(tag, values, step, options);
}

void FileWriter::histogram(const std::string& tag, std::span<const double> values, std::int64_t step,
                           HistogramOptions options) {
  state_->histogram(tag, values, step, options);
}

void FileWriter::histogram(const std::string& tag, const Histogram& counts, std::int64_t step) {
  require_tag(tag);
  try {
    require_buckets(counts);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(cat("histogram '", tag, "' at step ", step, ": ", error.message()));
  }
  add_own_summary(histogram_value(tag, counts), step);
}

void FileWriter::add_summary(const std::string& summary, std::int64_t step) {
  require_summary(summary);
  add_own_summary(summary, step);
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
  state_->writer.add(EventField::kSessionLog, session_log(status, checkpoint_path, message), step);
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
  add_meta_graph(meta_graph_def, step);
}

void FileWriter::add_graph_def(const std::string& graph_def, std::int64_t step) {
  state_->add_shown(EventField::kGraphDef, shown_graph(graph_def), step);
}

void FileWriter::add_meta_graph(const std::string& meta_graph_def, std::int64_t step) {
  state_->add_shown(EventField::kMetaGraphDef, shown_meta_graph(meta_graph_def), step);
}

void FileWriter::add_run_metadata(const RunMetadata& metadata, const std::string& tag, std::int64_t step) {
  state_->run_metadata(tag, metadata.serialize(), step);
}

void FileWriter::add_event(const std::string& event) {
  require_event(event);
  state_->writer.add_event(event);
}

void FileWriter::flush() {
  state_->writer.flush();
  state_->throw_error_of_files();
}

void FileWriter::close() {
  state_->writer.close();
  state_->throw_error_of_files();
}

void FileWriter::reopen() { state_->writer.reopen(); }
double FileWriter::now() const { return state_->clock.now(); }

void FileWriter::write_files(const std::string& what,
                             const std::function<void(FileSystem&, const std::string&)>& write) {
  if (!state_->writer.is_open())
    throw FailedPrecondition(cat(what, ": the event writer is closed; call reopen() before adding files"));
  const std::lock_guard hold(state_->files_mutex);
  try {
    write(state_->files, state_->directory);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(cat(what, ": ", error.message()));
  } catch (const Error& error) {
    const Error told(error.code(), cat(what, " is not written: ", error.message()));
    log_warning(told.message());
    if (!state_->error_of_files) state_->error_of_files = told;
  }
}

const std::string& FileWriter::get_logdir() const { return state_->logdir; }
std::int64_t FileWriter::lost() const { return state_->writer.lost(); }

}  // namespace runnel
