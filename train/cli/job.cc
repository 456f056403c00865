// Load, init, restore, the targets so many times, the fetches, the save, the files: in this order, and each
// before the next begins.
#include "train/cli/job.h"

#include <cstdint>
#include <iostream>
#include <limits>
#include <optional>
#include <set>

#include <CLI/CLI.hpp>

#include "graph/graph.h"
#include "train/cli/commands.h"
#include "train/cli/json.h"
#include "train/cli/model.h"
#include "train/cli/npy.h"
#include "train/train.h"

namespace runnel {
namespace {

constexpr std::int64_t kShown = 8;  // values of a fetch in JSON, as many as in text

struct Result {
  std::string name, file;  // file is empty if none is written
  Tensor value;
};

// "x:0=x.npy". Tensor names hold no '='.
Feed feed_of(const Graph& graph, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw CLI::ValidationError("--feed", text + " is not TENSOR=FILE.npy");
  const Output key = graph.output(text.substr(0, equals));
  const std::string path = text.substr(equals + 1);
  const std::string bytes = read_file(real_file_system(), path, std::numeric_limits<std::uint64_t>::max());
  try {
    return {key, npy_restored(npy_tensor(bytes), base_of(key.dtype()))};
  } catch (const Error& error) {
    throw_error(error.code(), cat(path, ": ", error.message()));
  }
}

// The file of each fetch, in order. Two of one name would overwrite each other.
std::vector<std::string> files_of(const Job& job) {
  std::vector<std::string> out;
  std::set<std::string> taken;
  for (std::string name : job.fetches) {
    for (char& c : name)
      if (c == '/' || c == ':') c = '_';
    if (job.out.empty()) {
      out.emplace_back();
    } else if (taken.insert(name).second) {
      out.push_back(join_path(job.out, name + ".npy"));
    } else {
      throw CLI::ValidationError("--fetch", cat("two fetches would be written to ", name, ".npy"));
    }
  }
  return out;
}

bool runs_targets(const Job& job) { return !job.targets.empty() && job.steps > 0; }

// Before anything runs, so that what is in the way costs no training.
void make_target_directories(const Job& job) {
  if (!job.out.empty()) make_directories(real_file_system(), job.out);
  if (!job.save.empty()) make_directories(real_file_system(), parent_of(job.save));
  if (job.trace.empty()) return;
  make_directories(real_file_system(), parent_of(job.trace));
  if (real_file_system().is_directory(job.trace))
    throw InvalidArgument(cat("--trace ", job.trace, " is a folder; give the name of a file in it"));
}

std::vector<Result> run(const Job& job, RunMetadata* took) {
  const std::vector<std::string> files = files_of(job);
  Graph graph;
  const std::string saver_def = load_model(graph, job.model);
  std::optional<Saver> saver;
  if (!job.restore.empty() || !job.save.empty())
    saver.emplace(saver_def.empty() ? Saver(graph) : Saver::from_saver_def(graph, saver_def));
  std::vector<Feed> feeds;
  for (const std::string& text : job.feeds) feeds.push_back(feed_of(graph, text));
  std::vector<Fetch> targets, fetches;
  for (const std::string& name : job.targets) targets.emplace_back(graph.operation(name));
  for (const std::string& name : job.fetches) fetches.emplace_back(graph.output(name));
  make_target_directories(job);
  Session session(graph);
  if (!job.init.empty()) session.run(graph.operation(job.init));
  if (!job.restore.empty()) saver->restore(session, job.restore);
  if (runs_targets(job))
    for (std::int64_t step = 0; step < job.steps; ++step)
      session.run(std::span<const Fetch>(targets), std::span<const Feed>(feeds),
                  {.run_metadata = step + 1 == job.steps ? took : nullptr});
  std::vector<Tensor> values;
  if (!fetches.empty())
    values = session.run(std::span<const Fetch>(fetches), std::span<const Feed>(feeds),
                         {.run_metadata = runs_targets(job) ? nullptr : took});
  if (!job.save.empty()) saver->save(session, job.save);
  std::vector<Result> out;
  for (std::size_t i = 0; i < values.size(); ++i) out.push_back({job.fetches[i], files[i], values[i]});
  return out;
}

void write(const std::vector<Result>& results) {
  for (const Result& result : results) {
    write_file_atomically(real_file_system(), result.file, npy_bytes(result.value));
    if (const std::string loss = npy_loss(result.value); !loss.empty())
      std::cerr << "runnel: " << result.file << ": " << loss << "\n";
  }
}

std::string json_of(const Result& result) {
  std::string out = cat(
      "{\"name\": ", json_text(result.name), ", \"dtype\": ", json_text(name_of(result.value.dtype())),
      ", \"shape\": ", json_shape(result.value.shape()), ", \"first\": ", json_values(result.value, kShown));
  if (!result.file.empty()) out += cat(", \"file\": ", json_text(result.file));
  return out + "}";
}

}  // namespace

void add_job_options(CLI::App& command, Job& job) {
  command.add_option("MODEL", job.model, "a .meta, or a GraphDef as .pb or .pbtxt");
  command.add_option("--restore", job.restore, "a checkpoint to start from; .meta models know how")
      ->check(not_empty)
      ->type_name("PREFIX");
  command.add_option("--save", job.save, "where to save the variables in the end")
      ->check(not_empty)
      ->type_name("PREFIX");
  command.add_option("--init", job.init, "an operation to run once, first")
      ->check(not_empty)
      ->type_name("OP");
  command.add_option("--feed", job.feeds, "a tensor's value, for targets and fetches")
      ->type_name("T=FILE.npy")
      ->allow_extra_args(false);
  command.add_option("--target", job.targets, "an operation to run in each step")
      ->check(not_empty)
      ->type_name("OP")
      ->allow_extra_args(false);
  command.add_option("--steps", job.steps, "how often the targets run")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000'000}))
      ->capture_default_str();
  command.add_option("--fetch", job.fetches, "a tensor to compute after the steps")
      ->check(not_empty)
      ->type_name("T")
      ->allow_extra_args(false);
  command.add_option("--out", job.out, "the folder for the fetches as .npy")
      ->check(not_empty)
      ->type_name("DIR");
  command
      .add_option("--trace", job.trace,
                  "the file for what each kernel of the last step took, for chrome://tracing and Perfetto")
      ->check(not_empty)
      ->type_name("FILE");
}

std::string run_job(const Job& job, bool json) {
  if (!job.trace.empty() && !runs_targets(job) && job.fetches.empty())
    throw CLI::ValidationError("--trace", "no step runs; give a --target or a --fetch");
  RunMetadata took;
  const std::vector<Result> results = run(job, job.trace.empty() ? nullptr : &took);
  if (!job.out.empty()) write(results);
  if (!job.trace.empty()) write_file_atomically(real_file_system(), job.trace, chrome_trace(took));
  if (json) {
    std::vector<std::string> parts;
    for (const Result& result : results) parts.push_back(json_of(result));
    return cat("{\"model\": ", json_text(job.model), ", \"fetches\": ", json_list(parts), "}");
  }
  std::string out;
  for (const Result& result : results)
    out += cat(out.empty() ? "" : "\n", result.name, " ", result.value.text());
  return out;
}

}  // namespace runnel
