// `runnel run`: one job, or many from a file, one command line a line, in one process.
#include <algorithm>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "graph/graph.h"
#include "train/cli/command_line.h"
#include "train/cli/commands.h"
#include "train/cli/job.h"
#include "train/cli/json.h"

namespace runnel {
namespace {

struct RunRequest {
  Job job;
  std::string batch;
  bool json = false;
};

Job parse_job(std::vector<std::string> words) {
  if (!words.empty() && words[0] == "runnel") words.erase(words.begin());
  if (!words.empty() && words[0] == "run") words.erase(words.begin());
  Job job;
  CLI::App parser;
  add_job_options(parser, job);
  std::ranges::reverse(words);  // the parser takes them from the back
  parser.parse(std::move(words));
  if (job.model.empty()) throw CLI::RequiredError("MODEL");
  return job;
}

// An error of a line of the batch: in the results with --json, else on stderr alone.
void report(const RunRequest& request, std::size_t number, const char* code, const std::string& why) {
  if (request.json)
    std::cout << "{\"line\": " << number << ", \"error\": {\"code\": \"" << code
              << "\", \"message\": " << json_text(why) << "}}\n";
  std::cerr << "runnel: " << request.batch << ":" << number << ": " << why << "\n";
}

bool run_line(const RunRequest& request, std::size_t number, std::string_view line) {
  try {
    std::vector<std::string> words = split_words(line);
    if (words.empty()) return true;
    const std::string text = run_job(parse_job(std::move(words)), request.json);
    if (request.json) {
      std::cout << "{\"line\": " << number << ", " << text.substr(1) << "\n";
    } else if (!text.empty()) {
      std::cout << text << "\n";
    }
    return true;
  } catch (const Error& error) {
    report(request, number, name_of(error.code()), error.message());
  } catch (const CLI::Error& error) {
    report(request, number, "Usage", error.what());
  }
  return false;
}

void run_batch(const RunRequest& request) {
  const std::string bytes = read_file(real_file_system(), request.batch);
  std::string_view rest = bytes;
  std::size_t number = 0, failed = 0;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (!run_line(request, ++number, rest.substr(0, end))) ++failed;
    std::cout.flush();
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (failed > 0) throw Unknown(cat(failed, " jobs of ", request.batch, " failed; each is named above"));
}

void run(const RunRequest& request) {
  if (request.batch.empty() == request.job.model.empty()) throw CLI::RequiredError("either MODEL or --batch");
  if (!request.batch.empty()) return run_batch(request);
  const std::string text = run_job(request.job, request.json);
  if (!text.empty()) std::cout << text << "\n";
}

}  // namespace

void add_run_command(CLI::App& program) {
  const auto request = std::make_shared<RunRequest>();
  CLI::App& command =
      *program.add_subcommand("run", "Runs a graph: init once, the targets in every step, then the fetches");
  add_job_options(command, request->job);
  command
      .add_option("--batch", request->batch,
                  "runs the jobs of a file, a command line a line; paths as from here")
      ->check(not_empty)
      ->type_name("FILE");
  command.add_flag("--json", request->json, "print JSON");
  command.callback([request] { run(*request); });
}

}  // namespace runnel
