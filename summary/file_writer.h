// FileWriter writes what TensorBoard shows into event files of one directory, with or without a graph. It
// never stops or slows training: a thread of its own does the writing, and trouble with the disk is logged
// once, counted, and thrown by flush() and close() only. Files and guarantees are described in
// summary/README.md. Source: TensorFlow's tf.summary.FileWriter; formats 8.1.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/clock.h"
#include "graph/dataflow.h"
#include "graph/io/file_system.h"
#include "graph/tensor.h"
#include "summary/events/event.h"
#include "summary/media_options.h"
#include "summary/values/custom_scalars.h"
#include "summary/values/embedding.h"
#include "summary/values/histogram.h"
#include "summary/values/hparams.h"
#include "summary/values/mesh.h"
#include "summary/values/pr_curve.h"

namespace runnel {

class Session;
struct EncodedImage;
struct ImageSize;
struct RunMetadata;

struct FileWriterOptions {
  int max_queue = 10;       // so many events are written soon (in 0.1 s), fewer when flush_secs are over
  double flush_secs = 120;  // an event is in the file after this time at the latest
  std::string filename_suffix = "";
  // Training goes on at this step: what earlier files of the directory hold from it on is void.
  std::optional<std::int64_t> purge_step = std::nullopt;
  bool must_open = true;      // false: a file that cannot be made is logged, and tried again later
  double patience_secs = 60;  // flush() and close() give up when the disk has taken nothing for so long
  bool sync = false;  // true: what is flushed outlives a power cut, too, not only the death of the process
  Clock* clock = &system_clock();           // borrowed
  FileSystem* files = &real_file_system();  // borrowed
};

// One of several scalars; see FileWriter::scalars.
struct NamedScalar {
  std::string_view name;
  double value = 0;
};

struct HistogramOptions {
  bool strict = false;  // refuse NaN and infinities instead of counting them beside the histogram
};

// All calls may be made from many threads. Adding after close() throws FailedPrecondition, and so does adding
// in a child that was forked off, until it calls reopen(): the parent's events are the parent's. The
// destructor closes and drops errors, which have been logged. One that was moved from may only be assigned
// to or destroyed.
class FileWriter {
 public:
  // Makes the directory and the file. Throws what the file system says, unless must_open is false.
  explicit FileWriter(const std::string& logdir, FileWriterOptions options = {});
  // The same, and add_graph(graph).
  FileWriter(const std::string& logdir, const Graph& graph, FileWriterOptions options = {});
  // The same with the session's graph.
  FileWriter(const std::string& logdir, const Session& session, FileWriterOptions options = {});
  ~FileWriter();
  FileWriter(FileWriter&&) noexcept;
  FileWriter& operator=(FileWriter&&) noexcept;

  // A point of a curve, stored as float. Tags must be UTF-8, here and below.
  void scalar(std::string_view tag, double value, std::int64_t step = 0);
  // Points of several curves in one event: the tags are MAIN_TAG/NAME, and NAME alone if main_tag is empty.
  // TensorBoard shows them side by side under MAIN_TAG; for curves in one picture see custom scalars, or use
  // a writer in a directory of its own for each.
  void scalars(std::string_view main_tag, std::span<const NamedScalar> values, std::int64_t step = 0);
  void scalars(std::string_view main_tag, std::initializer_list<NamedScalar> values, std::int64_t step = 0);
  // NaN and infinities are left out and logged, once a tag. Throws InvalidArgument with tag, step and counts
  // if strict.
  void histogram(const std::string& tag, std::span<const float> values, std::int64_t step = 0,
                 HistogramOptions options = {});
  void histogram(const std::string& tag, std::span<const double> values, std::int64_t step = 0,
                 HistogramOptions options = {});
  // One that was counted already, as histogram_of and histogram_of_buckets return it or with limits of its
  // own. Throws InvalidArgument if the limits do not ascend, a count is negative, or they are not as many.
  void histogram(const std::string& tag, const Histogram& counts, std::int64_t step = 0);
  // A picture of 8-bit pixels, rows from top to bottom, the channels of a pixel side by side; or of floats,
  // of which options.range says what is black and white (a pixel with a NaN or infinity is red). Several
  // pictures of one size are shown side by side under the tag. Throws InvalidArgument for a size that is
  // empty, too large or not that of the values, other channels than 1, 3, 4, and an empty range.
  void image(const std::string& tag, std::span<const std::uint8_t> pixels, const ImageOptions& options,
             std::int64_t step = 0);
  void image(const std::string& tag, std::span<const float> values, const ImageOptions& options,
             std::int64_t step = 0);
  // A whole PNG or JPEG file, written as it is. Throws InvalidArgument for other bytes.
  void encoded_image(const std::string& tag, std::string_view file, std::int64_t step = 0);
  // A sound of samples from -1 to 1, the channels of a frame side by side. Those beyond are clamped and NaN
  // is silence, which is logged once a tag. Throws InvalidArgument for a rate that is not given, samples that
  // are no whole frames, and more than 1 GiB.
  void audio(const std::string& tag, std::span<const float> samples, const AudioOptions& options,
             std::int64_t step = 0);
  // Markdown: a page, or a table of cells (a list is a column). Throws InvalidArgument for a tensor that does
  // not hold strings.
  void text(const std::string& tag, const std::string& markdown, std::int64_t step = 0,
            const TextOptions& options = {});
  void text(const std::string& tag, const Tensor& cells, std::int64_t step = 0,
            const TextOptions& options = {});
  // Any tensor, for the plugin that the metadata names.
  void tensor(const std::string& tag, const Tensor& value, std::int64_t step = 0,
              const TensorMetadata& metadata = {});
  // What follows is for TensorBoard's plugins; all of it throws InvalidArgument for what a page could not
  // show, which the headers of the options list.
  //
  // A precision-recall curve of predictions in [0, 1] (pr_curve.h).
  void pr_curve(const std::string& tag, std::span<const bool> labels, std::span<const float> predictions,
                std::int64_t step = 0, const PrCurveOptions& options = {});
  void pr_curve(const std::string& tag, const std::vector<bool>& labels, std::span<const float> predictions,
                std::int64_t step = 0, const PrCurveOptions& options = {});
  // One whose counts the caller made, over several batches for instance.
  void pr_curve_raw(const std::string& tag, const PrCurve& curve, std::int64_t step = 0,
                    const PrCurveRawOptions& options = {});
  // Hyperparameters (hparams.h). hparams_config: which there are, and the curves whose last values are
  // compared; once, in the folder above the runs, or in each run alike. hparams: what this run trains with,
  // before training. hparams_end: how it ended. Without hparams_config TensorBoard works out the domains
  // from the runs' values, and takes every scalar as a metric.
  void hparams_config(const std::vector<hp::HParam>& hparams, const std::vector<hp::Metric>& metrics,
                      const hp::ConfigOptions& options = {});
  void hparams(const std::map<std::string, hp::Value>& values, const hp::SessionOptions& options = {});
  void hparams_end(hp::Status status, const hp::EndOptions& options = {});
  // The layout of the Custom Scalars page (custom_scalars.h).
  void custom_scalars(const std::vector<CustomScalarsCategory>& layout);
  // A body or a cloud of points, float[batch, points, 3] or float[points, 3] (mesh.h).
  void mesh(const std::string& tag, const Tensor& vertices, std::int64_t step = 0,
            const MeshOptions& options = {});
  // Points of many dimensions, float[points, dimensions], for the Projector page (embedding.h). No event, but
  // files, written before it returns, so it waits for the disk; an error of theirs is logged, and thrown by
  // the next flush() or close().
  void embedding(const std::string& tensor_name, const Tensor& values, const EmbeddingOptions& options = {});

  // A serialized Summary, as summary ops return it; the tensor is a string scalar. Throws InvalidArgument for
  // others.
  void add_summary(const std::string& summary, std::int64_t step = 0);
  void add_summary(const Tensor& summary, std::int64_t step = 0);
  void add_session_log(SessionStatus status, std::int64_t step = 0, const std::string& checkpoint_path = "",
                       const std::string& message = "");
  // The graph with its shapes, once as GraphDef and once as MetaGraphDef with its collections. One too large
  // for a message (2 GB) is logged, not thrown. A graph that this writer has written is not written again.
  void add_graph(const Graph& graph, std::int64_t step = 0);
  // Serialized graphs, for being looked at: values above 1 KiB are left out (shown_graph.h). Throw
  // InvalidArgument for other bytes.
  void add_graph_def(const std::string& graph_def, std::int64_t step = 0);
  void add_meta_graph(const std::string& meta_graph_def, std::int64_t step = 0);
  // What each kernel of a run took (RunOptions::run_metadata), shown beside the graph. The tag names the run:
  // throws InvalidArgument for one that this writer has written.
  void add_run_metadata(const RunMetadata& metadata, const std::string& tag, std::int64_t step = 0);
  void add_event(const std::string& event);  // a serialized Event, written as it is

  // Returns when all that was added before is in the file. Throws the reason why something is not, or will
  // never be, or why the files of an embedding are not; DeadlineExceeded if the disk hangs.
  void flush();
  // The same for the last time: what could not be written is lost then. A second call does nothing.
  void close();
  void reopen();  // after close(), or in a forked child: goes on in a new file; otherwise does nothing

  const std::string& get_logdir() const;  // as it was given; files stay there wherever the process goes
  std::int64_t lost() const;              // events that were dropped or could not be written

 private:
  struct State;
  // What every method that makes a value calls: a Summary message that we serialized ourselves, taken without
  // being parsed again. Metadata in it is written once a tag and file.
  void add_own_summary(std::string_view summary, std::int64_t step);
  double now() const;  // seconds since 1970, by the options' clock
  // Writes files beside the events, into the directory it is told, one call at a time. What they were not
  // written for is logged, and thrown by the next flush() or close(); an InvalidArgument is thrown at once.
  void write_files(const std::string& what,
                   const std::function<void(FileSystem&, const std::string& directory)>& write);
  void add_images(const std::string& tag, std::vector<EncodedImage> images, std::int64_t step);
  void add_image(const std::string& tag, const ImageSize& size, std::string_view file, std::int64_t step);
  void warn_once(const std::string& tag, const std::string& what);  // once a tag

  std::unique_ptr<State> state_;
};

}  // namespace runnel
