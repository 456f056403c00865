// `runnel events export`: every value of the tags that are wanted.
#include <algorithm>
#include <cstdint>
#include <iostream>

#include "graph/graph.h"
#include "train/cli/event_jobs.h"
#include "train/cli/event_text.h"
#include "train/cli/json.h"

namespace runnel {
namespace {

std::string time_text(double wall) {
  return number_text({.at = {}, .number = wall, .dtype = DType::kDouble});
}

std::string time_json(double wall) {
  return number_json({.at = {}, .number = wall, .dtype = DType::kDouble});
}

// One point of one tag, to be printed.
struct Row {
  const EventRun& run;
  const std::string& tag;
  const EventTag& all;
  const EventPoint& point;

  bool is_number() const { return point.dtype != DType::kInvalid; }
};

std::string csv_row(const Row& row) {
  const std::string value = row.is_number() ? number_text(row.point)
                                            : csv_text(value_text(row.all.about, row.run.value(row.point)));
  return cat(csv_text(row.run.name()), ",", csv_text(row.tag), ",", csv_text(row.all.about.plugin), ",",
             row.point.at.step, ",", time_text(row.point.at.wall), ",", value, "\n");
}

std::string json_row(const Row& row) {
  const std::string value = row.is_number() ? "\"value\": " + number_json(row.point)
                                            : value_json(row.all.about, row.run.value(row.point));
  return cat("{\"run\": ", json_text(row.run.name()), ", \"tag\": ", json_text(row.tag),
             ", \"plugin\": ", json_text(row.all.about.plugin), ", \"step\": ", row.point.at.step,
             ", \"wall_time\": ", time_json(row.point.at.wall), ", ", value, "}");
}

template <class Print>
void for_each_row(const EventSelection& selection, const EventLog& log, const Print& print) {
  for (const auto& [name, run] : log.runs()) {
    if (!selection.has_run(name)) continue;
    for (const auto& [tag_name, tag] : run.tags()) {
      if (!selection.has_tag(tag_name)) continue;
      for (const EventPoint& point : tag.points) print(Row{run, tag_name, tag, point});
    }
  }
}

// What is missing from the output is told beside it. How many files end in damage.
std::uint64_t note_damage(const EventSelection& selection, const EventLog& log) {
  std::uint64_t damaged = 0;
  for (const auto& [name, run] : log.runs()) {
    if (!selection.has_run(name)) continue;
    for (const EventFileInfo& file : run.files()) {
      for (const EventDamage& damage : file.damage) std::cerr << "runnel: " << damage_line(damage) << "\n";
      damaged += std::ranges::any_of(file.damage, [](const EventDamage& each) { return !each.passed_over; });
    }
  }
  return damaged;
}

void print_csv(const EventSelection& selection, const EventLog& log) {
  std::cout << "run,tag,plugin,step,wall_time,value\n";
  for_each_row(selection, log, [](const Row& row) { std::cout << csv_row(row); });
}

void print_json(const EventSelection& selection, const EventLog& log) {
  const char* separator = "[";
  for_each_row(selection, log, [&](const Row& row) {
    std::cout << separator << json_row(row);
    separator = ",\n ";
  });
  std::cout << (*separator == '[' ? "[]\n" : "]\n");
}

}  // namespace

void export_events(const EventSelection& selection, bool json) {
  const EventLog log = read_log(selection);
  const std::uint64_t damaged = note_damage(selection, log);
  if (json)
    print_json(selection, log);
  else
    print_csv(selection, log);
  if (damaged > 0)
    throw DataLoss(cat("'", selection.path, "': what follows the damage of ", counted(damaged, "file"),
                       " is not in the output"));
}

}  // namespace runnel
