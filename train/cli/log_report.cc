// `runnel inspect`: tells what log_inspection.h found.
#include <iostream>

#include "graph/graph.h"
#include "train/cli/checkpoint_jobs.h"
#include "train/cli/event_jobs.h"
#include "train/cli/event_text.h"
#include "train/cli/json.h"
#include "train/cli/log_inspection.h"

namespace runnel {
namespace {

std::string finding_json(const LogFinding& finding) {
  return cat("{\"verdict\": ", json_text(name_of(finding.verdict)), ", \"run\": ", json_text(finding.run),
             ", \"message\": ", json_text(finding.text), ", \"path\": ", json_text(finding.path),
             ", \"offset\": ", finding.offset ? std::to_string(*finding.offset) : "null", "}");
}

std::string checkpoint_json(const FoundCheckpoint& found) {
  return cat("{\"directory\": ", json_text(found.directory), ", \"newest\": ", json_text(found.prefix),
             ", \"tensors\": ", found.tensors, ", \"kept\": ", found.kept, "}");
}

void print_json(const LogInspection& log) {
  std::vector<std::string> findings, checkpoints;
  for (const LogFinding& finding : log.findings) findings.push_back(finding_json(finding));
  for (const FoundCheckpoint& found : log.checkpoints) checkpoints.push_back(checkpoint_json(found));
  std::cout << "{\"directory\": " << json_text(log.directory)
            << ", \"verdict\": " << json_text(name_of(log.verdict())) << ", \"runs\": " << log.runs
            << ", \"files\": " << log.files << ", \"tags\": " << log.tags << ", \"values\": " << log.values
            << ", \"findings\": " << json_list(findings) << ", \"checkpoints\": " << json_list(checkpoints)
            << ", \"tensorboard\": " << json_text(log.tensorboard_command()) << "}\n";
}

void print_text(const LogInspection& log) {
  std::cout << shown_name(log.directory) << "  " << counted(log.runs, "run") << "  "
            << counted(log.files, "file") << "  " << counted(log.tags, "tag") << "  "
            << counted(log.values, "value") << "\n";
  for (const LogFinding& finding : log.findings)
    std::cout << (finding.run.empty() ? "" : cat("run ", shown_name(finding.run), "  "))
              << name_of(finding.verdict) << ": " << finding.text << "\n";
  for (const FoundCheckpoint& found : log.checkpoints)
    if (!found.prefix.empty())
      std::cout << "newest checkpoint  " << shown_name(found.prefix) << "  "
                << counted(found.tensors, "tensor") << "  (" << found.kept << " in "
                << shown_name(found.directory) << "; `runnel checkpoint verify` reads it whole)\n";
  std::cout << "verdict: " << name_of(log.verdict()) << "\n";
  std::cout << "show it: " << log.tensorboard_command() << "\n";
}

}  // namespace

void inspect_log(const std::string& directory, bool json) {
  const LogInspection log = inspected(directory);
  if (json)
    print_json(log);
  else
    print_text(log);
  if (log.verdict() > LogVerdict::kTruncated)
    throw FailedPrecondition(cat("'", directory, "': ", name_of(log.verdict())));
}

}  // namespace runnel
