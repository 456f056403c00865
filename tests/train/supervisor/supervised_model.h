// What tests of supervised runs share: a model that counts, and what a run left in its directory.
#pragma once

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/ops.h"
#include "summary/summary.h"
#include "tests/graph/until.h"
#include "train/train.h"

namespace runnel {

// A step adds 1 to the global step and 0.5 to `w`.
struct CountingModel {
  Graph g{{.seed = 1}};
  Variable step = get_or_create_global_step(g);
  Variable w = variable(g, 0.0f, "w");
  Output loss = w.value() * 2.0f;
  Operation train =
      group({Operation(assign_add(w, 0.5f).node()), Operation(assign_add(step, std::int64_t{1}).node())},
            {.name = "train"});
  CountingModel() { summary::scalar("loss", loss); }

  void run(Session& session, int steps) const {
    for (int i = 0; i < steps; ++i) session.run(train);
  }
};

// Names in a directory, sorted, those of event files left out.
inline std::vector<std::string> files_in(const std::string& directory) {
  std::vector<std::string> out;
  for (const std::string& name : real_file_system().list(directory))
    if (name.find("tfevents") == name.npos) out.push_back(name);
  return out;
}

// The checkpoints' names.
inline std::vector<std::string> checkpoints_in(const std::string& directory) {
  std::vector<std::string> out;
  for (const std::string& name : files_in(directory))
    if (name.ends_with(".index")) out.push_back(name.substr(0, name.size() - 6));
  return out;
}

inline std::string line_of(const Event& event) {
  const char* const statuses[] = {"?", "START", "STOP", "CHECKPOINT"};
  switch (event.kind) {
    case EventKind::kVersion: return "version";
    case EventKind::kGraph: return "graph";
    case EventKind::kMetaGraph: return "meta graph";
    case EventKind::kSessionLog: {
      const std::string path = event.checkpoint_path.empty() ? "" : " " + base_name_of(event.checkpoint_path);
      return cat(statuses[event.session_status], " ", event.at.step, path);
    }
    default: return cat(event.values.empty() ? "?" : event.values[0].tag, " ", event.at.step);
  }
}

// A line for each event of the directory, file by file: "START 0", "graph", "loss 3", "CHECKPOINT 3
// model.ckpt".
inline std::vector<std::string> events_in(const std::string& directory) {
  std::vector<std::string> out;
  for (const std::string& name : real_file_system().list(directory))
    if (name.find("tfevents") != name.npos)
      for (const Event& event : EventReader(join_path(directory, name))) out.push_back(line_of(event));
  return out;
}

inline long count(const std::vector<std::string>& lines, const std::string& part) {
  return std::count_if(lines.begin(), lines.end(),
                       [&](const std::string& line) { return line.find(part) != line.npos; });
}

}  // namespace runnel
