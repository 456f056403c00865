// Each file is opened for as long as it is read, so that a directory of thousands needs one at a time.
#include "summary/events/event_run.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "graph/wire.h"
#include "runnel/event.pb.h"
#include "summary/events/event_value.h"
#include "summary/events/record_reader.h"

namespace runnel {
namespace {

// The number after "brain.Event:"; 0 if there is none.
double version_number(const std::string& text) {
  constexpr std::string_view kBefore = "brain.Event:";
  return text.starts_with(kBefore) ? std::strtod(text.c_str() + kBefore.size(), nullptr) : 0;
}

void drop_from(std::vector<EventPoint>& points, std::int64_t step) {
  std::erase_if(points, [step](const EventPoint& point) { return point.at.step >= step; });
}

std::size_t values_in(const pb::Event& event) {
  if (event.has_graph_def() || event.has_tagged_run_metadata()) return 1;
  return static_cast<std::size_t>(event.summary().value_size());
}

}  // namespace

struct EventRun::OpenFile {
  std::size_t file;
  RecordReader records;
};

// What one event does to the run.
class EventRun::Scan {
 public:
  Scan(EventRun& run, std::size_t file) : run_(run), file_(file) {}

  void add(const pb::Event& event, std::uint64_t offset) {
    note_time(event);
    void_points(event);
    EventPoint point;
    point.at = {.wall = event.wall_time(), .step = event.step()};
    point.file = static_cast<std::uint32_t>(file_);
    point.offset = offset;
    if (event.has_graph_def())
      add(
          kGraphTag, [] { return described_graph(); }, point);
    if (event.has_tagged_run_metadata()) {
      const std::string& tag = event.tagged_run_metadata().tag();
      add(
          tag, [&] { return described_run_metadata(tag); }, point);
    }
    for (const pb::Summary::Value& value : event.summary().value()) {
      add_value(value, point);
      ++point.value;
    }
    if (event.has_summary()) run_.last_step_ = event.step();
  }

 private:
  bool by_session_log() const { return run_.options_.restarts == Restarts::kBySessionLog; }

  void note_time(const pb::Event& event) {
    EventFileInfo& file = run_.files_[file_];
    ++file.events;
    if (event.has_file_version()) {
      ++file.versions;
      run_.version_ = version_number(event.file_version());
      return;
    }
    const double wall = event.wall_time();
    if (!std::isfinite(wall)) return;
    const bool first = file.first_wall == 0 && file.last_wall == 0;
    file.first_wall = first ? wall : std::min(file.first_wall, wall);
    file.last_wall = first ? wall : std::max(file.last_wall, wall);
  }

  // As TensorBoard's reader in Python does: by START where the file's version is known, else by a step that
  // is lower than that of the summary before.
  void void_points(const pb::Event& event) {
    if (!by_session_log()) return;
    if (run_.version_ >= 2) {
      if (event.session_log().status() != pb::SessionLog::START) return;
      if (run_.started_)
        for (auto& [name, tag] : run_.tags_) drop_from(tag.points, event.step());
      run_.started_ = true;
    } else if (event.has_summary() && event.step() < run_.last_step_) {
      for (const pb::Summary::Value& value : event.summary().value())
        if (const auto found = run_.tags_.find(value.tag()); found != run_.tags_.end())
          drop_from(found->second.points, event.step());
    }
  }

  void add_value(const pb::Summary::Value& value, EventPoint point) {
    // The reader in Python leaves out what has no value, but for hyperparameters.
    const bool empty = value.value_case() == pb::Summary::Value::VALUE_NOT_SET;
    if (empty && by_session_log() && value.metadata().plugin_data().plugin_name() != "hparams") return;
    if (const std::optional<EventNumber> number = number_of(value)) {
      point.number = number->value;
      point.dtype = number->dtype;
    }
    add(
        value.tag(), [&] { return described(value); }, point);
  }

  template <class Describe>
  void add(const std::string& name, Describe describe, const EventPoint& point) {
    const auto [found, is_new] = run_.tags_.try_emplace(name);
    EventTag& tag = found->second;
    if (is_new || (by_session_log() && !tag.about.has_metadata)) tag.about = describe();
    if (run_.options_.restarts == Restarts::kBySteps)
      while (!tag.points.empty() && tag.points.back().at.step >= point.at.step) tag.points.pop_back();
    tag.points.push_back(point);
    ++tag.written;
  }

  EventRun& run_;
  std::size_t file_;
};

bool EventTag::is_shown() const { return !about.plugin.empty() && about.data_class != DataClass::kUnknown; }

EventRun::EventRun(std::string name, EventRunOptions options) : name_(std::move(name)), options_(options) {}
EventRun::~EventRun() = default;
EventRun::EventRun(EventRun&&) noexcept = default;
EventRun& EventRun::operator=(EventRun&&) noexcept = default;

std::size_t EventRun::index_of(const std::string& path) {
  const auto [found, is_new] = by_path_.try_emplace(path, files_.size());
  if (is_new) files_.emplace_back().path = path;
  return found->second;
}

void EventRun::reload(const std::vector<std::string>& paths, const EventAction& action) {
  for (EventFileInfo& file : files_) file.gone = true;
  for (const std::string& path : paths) files_[index_of(path)].gone = false;
  for (const auto& [path, index] : by_path_) read_new(index, action);
}

void EventRun::read_new(std::size_t index, const EventAction& action) {
  EventFileInfo& file = files_[index];
  if (!file.is_readable()) return;
  try {
    const std::uint64_t size = options_.files->file_size(file.path);
    if (size == file.size) return;
    if (size < file.offset)
      throw DataLoss(cat(file.path, ": ", size, " bytes are left of it, and ", file.offset,
                         " were read before; who made it shorter?"));
    file.size = size;
    read_records(index, action);
  } catch (const NotFound&) {
    file.gone = true;
  } catch (const Error& error) {
    file.damage.push_back({.offset = file.offset, .what = error.message()});
  }
}

void EventRun::read_records(std::size_t index, const EventAction& action) {
  EventFileInfo& file = files_[index];
  RecordReader records(options_.files->open_for_reading(file.path), {.skip_damaged = options_.skip_damaged});
  records.seek(file.offset);
  Scan scan(*this, index);
  pb::Event event;
  std::size_t noted = 0;  // of the damaged records that were passed over
  for (;;) {
    const std::optional<std::string> record = records.next();
    if (record && !parse_message(*record, event)) {
      records.refuse("is a sound record that holds no event");
    } else if (record) {
      scan.add(event, records.start());
      if (action) action(name_, event_in(event));
    }
    for (; noted < records.skipped().size(); ++noted)
      file.damage.push_back({.offset = records.skipped()[noted],
                             .what = cat(file.path, ": the record at byte ", records.skipped()[noted],
                                         " is damaged and was passed over"),
                             .passed_over = true});
    file.offset = records.offset();
    file.truncated = records.truncated();
    if (!record) return;
  }
}

EventValue EventRun::value(const EventPoint& point) const {
  const EventFileInfo& file = files_.at(point.file);
  if (!open_ || open_->file != point.file)
    open_ = std::make_unique<OpenFile>(
        OpenFile{point.file, RecordReader(options_.files->open_for_reading(file.path))});
  open_->records.seek(point.offset);
  const std::optional<std::string> record = open_->records.next();
  pb::Event event;
  if (!record || !parse_message(*record, event) || point.value >= values_in(event))
    throw DataLoss(
        cat(file.path, ": what was read at byte ", point.offset, " before is gone; who changed the file?"));
  return value_of(event, point.value);
}

}  // namespace runnel
