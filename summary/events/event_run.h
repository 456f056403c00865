// One run of a log directory: the files of one folder, in the order of their names, and what they hold tag by
// tag, as TensorBoard would show it. Only where a value lies is kept in memory, so a run may be larger than
// that; values are read again when they are asked for. May be reloaded as often as wished: it goes on where
// it was. Leaves out TensorBoard's sampling (at most 1000 points of a curve, 10 pictures): all are here.
// Source: formats 8.2; TensorBoard's two readers.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "summary/events/event_reader.h"

namespace runnel {

// What becomes of points when training went on from an earlier step.
enum class Restarts {
  kBySteps,       // a point of a tag voids the tag's points from its step on (TensorBoard's data server)
  kBySessionLog,  // each START but the first voids all points from its step on (its reader in Python)
  kKept,          // nothing is void
};

struct EventRunOptions {
  Restarts restarts = Restarts::kBySteps;
  bool skip_damaged = false;                // pass over damaged records where the next one can be found
  FileSystem* files = &real_file_system();  // borrowed
};

// One value of a tag: when, and where it lies.
struct EventPoint {
  EventTime at;
  double number = std::numeric_limits<double>::quiet_NaN();  // a scalar's
  DType dtype = DType::kInvalid;                             // the number's; kInvalid if there is none
  std::uint32_t file = 0, value = 0;                         // of EventRun::files(), of Event::values
  std::uint64_t offset = 0;                                  // of its record
};

struct EventTag {
  EventValue about;                // of its first value, whose tensor is left out
  std::uint64_t written = 0;       // values in the files, void ones too
  std::vector<EventPoint> points;  // in the order of the files
  // False if no page of TensorBoard shows it: its first value does not say which plugin does, or one that
  // TensorBoard does not know without saying of which class its data are.
  bool is_shown() const;
};

// A place from which on, or at which, a file is not to be believed.
struct EventDamage {
  std::uint64_t offset = 0;
  std::string what;
  bool passed_over = false;  // what follows was read
};

struct EventFileInfo {
  std::string path;
  std::uint64_t offset = 0;    // read so far
  std::uint64_t size = 0;      // when it was last looked at
  std::uint64_t events = 0;    // whole ones
  std::uint64_t versions = 0;  // of these, version records: each writer makes one, first of all
  bool truncated = false;      // it ends in part of a record
  bool gone = false;           // it was there before
  std::vector<EventDamage> damage = {};
  // When the first and the last event but version records were made; 0 if there is none.
  double first_wall = 0, last_wall = 0;
  bool is_readable() const { return !gone && (damage.empty() || damage.back().passed_over); }
};

// What is done with each event as it is read; gets the name of its run.
using EventAction = std::function<void(const std::string& run, const Event& event)>;

// For one thread at a time.
class EventRun {
 public:
  explicit EventRun(std::string name, EventRunOptions options = {});
  ~EventRun();
  EventRun(EventRun&&) noexcept;
  EventRun& operator=(EventRun&&) noexcept;

  // Reads what is new in these, which are all files of the run now. Throws nothing for what is in them: that
  // is their damage.
  void reload(const std::vector<std::string>& paths, const EventAction& action = {});

  const std::string& name() const { return name_; }
  const std::map<std::string, EventTag>& tags() const { return tags_; }
  const std::vector<EventFileInfo>& files() const { return files_; }  // in the order in which they were found
  // The value of a point of this run. Throws NotFound or DataLoss if the file is not what it was.
  EventValue value(const EventPoint& point) const;

 private:
  class Scan;
  std::size_t index_of(const std::string& path);
  void read_new(std::size_t index, const EventAction& action);
  void read_records(std::size_t index, const EventAction& action);

  std::string name_;
  EventRunOptions options_;
  std::map<std::string, EventTag> tags_;
  std::vector<EventFileInfo> files_;
  std::map<std::string, std::size_t> by_path_;
  double version_ = 0;  // of the file format; 0 if none was said
  bool started_ = false;
  std::int64_t last_step_ = -1;  // of the last summary
  struct OpenFile;
  mutable std::unique_ptr<OpenFile> open_;  // the one that value() read last
};

}  // namespace runnel
