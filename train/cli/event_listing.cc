// `runnel events ls`: what TensorBoard will see.
#include <iostream>

#include "graph/graph.h"
#include "train/cli/checkpoint_jobs.h"
#include "train/cli/event_jobs.h"
#include "train/cli/event_text.h"
#include "train/cli/json.h"

namespace runnel {
namespace {

std::string file_json(const EventFileInfo& file) {
  std::vector<std::string> damage;
  for (const EventDamage& each : file.damage)
    damage.push_back(cat("{\"offset\": ", each.offset, ", \"message\": ", json_text(damage_line(each)),
                         ", \"passed_over\": ", each.passed_over ? "true" : "false", "}"));
  return cat("{\"path\": ", json_text(file.path), ", \"bytes\": ", file.size, ", \"read\": ", file.offset,
             ", \"events\": ", file.events, ", \"truncated\": ", file.truncated ? "true" : "false",
             ", \"damage\": ", json_list(damage), "}");
}

std::string tag_json(const std::string& name, const EventTag& tag) {
  std::string steps = ", \"first_step\": null, \"last_step\": null";
  if (!tag.points.empty())
    steps =
        cat(", \"first_step\": ", tag.points.front().at.step, ", \"last_step\": ", tag.points.back().at.step);
  return cat("{\"tag\": ", json_text(name), ", \"plugin\": ", json_text(tag.about.plugin),
             ", \"shown\": ", tag.is_shown() ? "true" : "false", ", \"values\": ", tag.points.size(),
             ", \"written\": ", tag.written, steps, ", \"display_name\": ", json_text(tag.about.display_name),
             ", \"description\": ", json_text(tag.about.description), "}");
}

std::string run_json(const EventSelection& selection, const EventRun& run) {
  std::vector<std::string> files, tags;
  for (const EventFileInfo& file : run.files()) files.push_back(file_json(file));
  for (const auto& [name, tag] : run.tags())
    if (selection.has_tag(name)) tags.push_back(tag_json(name, tag));
  return cat("{\"run\": ", json_text(run.name()), ", \"files\": ", json_list(files),
             ", \"tags\": ", json_list(tags), "}");
}

void print_file(const EventFileInfo& file) {
  std::cout << "  file " << shown_name(base_name_of(file.path)) << "  " << counted(file.events, "event")
            << "  " << counted(file.size, "byte") << (file.truncated ? "  ends in part of a record" : "")
            << "\n";
  for (const EventDamage& each : file.damage) std::cout << "    " << damage_line(each) << "\n";
}

void print_tag(const std::string& name, const EventTag& tag) {
  std::cout << "  " << shown_name(name) << "  "
            << (tag.is_shown() ? tag.about.plugin
                               : "not shown: its first value names no plugin that is known")
            << "  " << counted(tag.points.size(), "value");
  if (tag.points.size() == 1) std::cout << "  step " << tag.points[0].at.step;
  if (tag.points.size() > 1)
    std::cout << "  steps " << tag.points.front().at.step << " to " << tag.points.back().at.step;
  if (tag.written > tag.points.size()) std::cout << "  (" << tag.written << " written)";
  std::cout << "\n";
}

}  // namespace

void list_events(const EventSelection& selection, bool json) {
  const EventLog log = read_log(selection);
  std::vector<std::string> runs;
  std::uint64_t tags = 0, values = 0, files = 0, count = 0;
  for (const auto& [name, run] : log.runs()) {
    if (!selection.has_run(name)) continue;
    if (json) {
      runs.push_back(run_json(selection, run));
      continue;
    }
    ++count;
    std::cout << "run " << shown_name(name) << "\n";
    for (const EventFileInfo& file : run.files()) print_file(file), ++files;
    for (const auto& [tag_name, tag] : run.tags())
      if (selection.has_tag(tag_name)) print_tag(tag_name, tag), ++tags, values += tag.points.size();
  }
  if (json)
    std::cout << "{\"path\": " << json_text(selection.path) << ", \"runs\": " << json_list(runs) << "}\n";
  else
    std::cout << counted(count, "run") << ", " << counted(tags, "tag") << ", " << counted(values, "value")
              << " in " << counted(files, "file") << "\n";
}

}  // namespace runnel
