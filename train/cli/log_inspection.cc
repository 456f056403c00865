// Each question is a function of its own; a run may have several things the matter with it.
#include "train/cli/log_inspection.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "graph/graph.h"
#include "summary/summary.h"
#include "train/cli/checkpoint_jobs.h"
#include "train/cli/event_text.h"
#include "train/cli/shell_text.h"
#include "train/train.h"

namespace runnel {
namespace {

using Findings = std::vector<LogFinding>;

// Bytes that the system had promised room for, but that had not reached the disk when the power failed.
bool is_zero_from(const EventFileInfo& file, std::uint64_t offset) {
  constexpr std::uint64_t kMost = 1 << 20;
  const std::string rest = real_file_system().open_for_reading(file.path)->read_at(offset, kMost);
  return !rest.empty() && rest.find_first_not_of('\0') == std::string::npos;
}

std::string damage_text(const EventFileInfo& file, const EventDamage& damage) {
  try {
    if (is_zero_from(file, damage.offset))
      return cat(file.path, ": from byte ", damage.offset,
                 " on there are zeros only, as a power cut leaves them. What is before is shown, and nothing "
                 "that is added to this file later would be: go on in a new one");
  } catch (const Error&) {
    // The damage is that it cannot be read.
  }
  return cat(
      damage_line(damage, false),
      ". From there on TensorBoard shows nothing of this file, or a wrong value where its default reader "
      "does not look at the checksum; `runnel events export --skip-damaged` gets what can still be read");
}

void look_for_damage(const EventRun& run, Findings& out) {
  for (const EventFileInfo& file : run.files()) {
    for (const EventDamage& damage : file.damage)
      out.push_back({.verdict = LogVerdict::kDamaged,
                     .run = run.name(),
                     .text = damage_text(file, damage),
                     .path = file.path,
                     .offset = damage.offset});
    if (file.truncated)
      out.push_back(
          {.verdict = LogVerdict::kTruncated,
           .run = run.name(),
           .text = cat(file.path, ": from byte ", file.offset, " on there are ", file.size - file.offset,
                       " bytes of a record that is not complete: it is being written now, or its writer was "
                       "killed. TensorBoard shows what is before and waits for the rest"),
           .path = file.path,
           .offset = file.offset});
  }
}

void look_for_events(const EventRun& run, Findings& out) {
  for (const EventFileInfo& file : run.files())
    if (file.events > file.versions || !file.damage.empty() || file.truncated) return;
  const bool has_version =
      std::ranges::any_of(run.files(), [](const EventFileInfo& file) { return file.versions > 0; });
  out.push_back(
      {.verdict = LogVerdict::kVersionOnly,
       .run = run.name(),
       .text = cat("nothing was logged yet: ", run.files().size() == 1 ? "its file has" : "its files have",
                   has_version ? " no event but the version" : " no event, not even the version",
                   ". A writer that is at work writes its events after flush_secs "
                   "(120 s) at the latest, or at flush()"),
       .path = run.files().front().path});
}

void look_for_writers(const EventRun& run, Findings& out) {
  std::vector<const EventFileInfo*> files;
  for (const EventFileInfo& file : run.files()) {
    if (file.versions > 1)
      out.push_back({.verdict = LogVerdict::kTwoWriters,
                     .run = run.name(),
                     .text = cat(file.path, ": ", file.versions,
                                 " version records in one file: several writers wrote into it, or files were "
                                 "joined. Give each writer a directory of its own"),
                     .path = file.path});
    if (file.events > file.versions) files.push_back(&file);
  }
  std::ranges::sort(
      files, [](const EventFileInfo* a, const EventFileInfo* b) { return a->first_wall < b->first_wall; });
  for (std::size_t i = 1; i < files.size(); ++i)
    if (files[i]->first_wall < files[i - 1]->last_wall) {
      out.push_back(
          {.verdict = LogVerdict::kTwoWriters,
           .run = run.name(),
           .text = cat(base_name_of(files[i - 1]->path), " and ", base_name_of(files[i]->path),
                       " were written at the same time. TensorBoard takes the files of one folder for one "
                       "run, so their curves are mixed: give each writer a directory of its own"),
           .path = files[i]->path});
      return;
    }
}

void look_at_steps(const EventRun& run, Findings& out) {
  std::string first;
  std::size_t tags = 0;
  const EventFileInfo* file = nullptr;
  for (const auto& [name, tag] : run.tags())
    for (std::size_t i = 1; i < tag.points.size(); ++i) {
      const EventPoint &before = tag.points[i - 1], &point = tag.points[i];
      if (tag.about.data_class == DataClass::kUnknown || point.at.step >= before.at.step) continue;
      if (tags++ == 0) {
        file = &run.files()[point.file];
        first = cat("tag ", shown_name(name), " has step ", point.at.step, " after step ", before.at.step,
                    " in ", base_name_of(file->path));
      }
      break;
    }
  if (tags > 0)
    out.push_back({.verdict = LogVerdict::kStepsBack,
                   .run = run.name(),
                   .text = cat(first, tags > 1 ? cat("; ", counted(tags - 1, "more tag"), " likewise") : "",
                               ". A run that goes on from a checkpoint must say so "
                               "(FileWriterOptions::purge_step), and a new run needs a directory of its own"),
                   .path = file->path});
}

void look_at_run(const EventRun& run, LogInspection& out) {
  ++out.runs;
  out.files += run.files().size();
  out.tags += run.tags().size();
  for (const auto& [name, tag] : run.tags()) out.values += tag.points.size();
  look_for_damage(run, out.findings);
  look_for_events(run, out.findings);
  look_for_writers(run, out.findings);
  look_at_steps(run, out.findings);
}

void look_at_names(const std::string& directory, Findings& out) {
  const std::vector<std::string> names = real_file_system().list(directory);
  if (names.empty()) {
    out.push_back({.verdict = LogVerdict::kEmpty,
                   .run = "",
                   .text = "there is nothing in this directory: is it the one that the writer was given?"});
    return;
  }
  constexpr std::size_t kMost = 3;
  std::string some;
  bool has_file = false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool folder = real_file_system().is_directory(join_path(directory, names[i]));
    has_file = has_file || !folder;
    if (i < kMost) some += cat(i > 0 ? ", " : "", shown_name(names[i]), folder ? "/" : "");
  }
  if (names.size() > kMost) some += cat(" and ", names.size() - kMost, " more");
  out.push_back(
      {.verdict = LogVerdict::kNoEventFiles,
       .run = "",
       .text = cat("no file here or in a folder below has \"tfevents\" in its name, and TensorBoard takes no "
                   "others; there is ",
                   some,
                   has_file ? ". If a file of these is an event file, give it such a name again"
                            : ": is it the directory that the writer was given?")});
}

// A directory with checkpoints, and whether the newest can be read.
void look_at_checkpoints(const std::string& directory, LogInspection& out) {
  std::vector<std::string> names;
  try {
    names = real_file_system().list(directory);
  } catch (const Error&) {
    return;  // gone meanwhile
  }
  FoundCheckpoint found{.directory = directory};
  for (const std::string& name : names) found.kept += name.ends_with(".index");
  if (found.kept == 0 && !std::ranges::binary_search(names, "checkpoint")) return;
  try {
    found.prefix = latest_checkpoint(directory);
    found.tensors = CheckpointReader(found.prefix).variables().size();
  } catch (const Error& error) {
    out.findings.push_back({.verdict = LogVerdict::kBadCheckpoint,
                            .run = "",
                            .text = cat("the newest checkpoint cannot be read: ", error.message()),
                            .path = directory});
  }
  out.checkpoints.push_back(found);
}

}  // namespace

const char* name_of(LogVerdict verdict) {
  switch (verdict) {
    case LogVerdict::kFine: return "all fine";
    case LogVerdict::kTruncated: return "truncated tail";
    case LogVerdict::kVersionOnly: return "version record only";
    case LogVerdict::kStepsBack: return "steps going backwards";
    case LogVerdict::kTwoWriters: return "two writers at once";
    case LogVerdict::kBadCheckpoint: return "unreadable checkpoint";
    case LogVerdict::kDamaged: return "damaged record";
    case LogVerdict::kNoEventFiles: return "no event files";
    case LogVerdict::kEmpty: return "empty directory";
  }
  return "";
}

LogVerdict LogInspection::verdict() const {
  LogVerdict worst = LogVerdict::kFine;
  for (const LogFinding& finding : findings) worst = std::max(worst, finding.verdict);
  return worst;
}

std::string LogInspection::tensorboard_command() const {
  // Absolute, so that neither "~" nor "-" at the front means anything, and it works from everywhere.
  return "tensorboard --logdir " +
         quoted_for_shell(std::filesystem::absolute(directory).lexically_normal().string());
}

LogInspection inspected(const std::string& directory) {
  FileSystem& files = real_file_system();
  if (!files.exists(directory)) throw NotFound(cat("there is no directory '", directory, "'"));
  if (!files.is_directory(directory))
    throw InvalidArgument(cat("'", directory, "' is a file; give its directory, '", parent_of(directory),
                              "', as TensorBoard wants it, or use `runnel events ls`"));
  LogInspection out{.directory = directory};
  EventLog log(directory, {.restarts = Restarts::kBySessionLog});
  log.reload();
  std::set<std::string> directories = {directory};
  for (const auto& [name, run] : log.runs()) {
    look_at_run(run, out);
    if (name != ".") directories.insert(join_path(directory, name));
  }
  if (log.runs().empty()) look_at_names(directory, out.findings);
  for (const std::string& each : directories) look_at_checkpoints(each, out);
  return out;
}

}  // namespace runnel
