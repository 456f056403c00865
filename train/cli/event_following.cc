// `runnel events follow`: looks again and again, and prints what has come.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <iostream>
#include <map>

#include "graph/graph.h"
#include "train/cli/checkpoint_jobs.h"
#include "train/cli/event_jobs.h"
#include "train/cli/event_text.h"
#include "train/cli/json.h"

namespace runnel {
namespace {

using SteadyClock = std::chrono::steady_clock;

// While it lives, the first SIGINT or SIGTERM ends waiting instead of the program. A pipe, since a signal may
// come to any thread, and OpenBLAS has some. A reader of standard output that is gone (`| head -1`) ends
// waiting, too, as no write would tell of it while nothing comes; a write that does tell ends the program,
// which has done what was wanted.
class Interrupts {
 public:
  Interrupts() {
    if (::pipe2(pipe_, O_CLOEXEC | O_NONBLOCK) != 0)
      throw ResourceExhausted(cat("no pipe can be made: ", std::strerror(errno)));
    struct sigaction action = {};
    action.sa_handler = [](int) {
      const int before = errno;
      [[maybe_unused]] const ssize_t written = ::write(pipe_[1], "", 1);
      errno = before;
    };
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    ::sigaction(SIGINT, &action, &before_[0]);
    ::sigaction(SIGTERM, &action, &before_[1]);
    action.sa_handler = [](int) { ::_exit(0); };
    ::sigaction(SIGPIPE, &action, &before_[2]);
  }
  ~Interrupts() {
    ::sigaction(SIGINT, &before_[0], nullptr);
    ::sigaction(SIGTERM, &before_[1], nullptr);
    ::sigaction(SIGPIPE, &before_[2], nullptr);
    for (const int end : pipe_) ::close(end);
  }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // Waits so many seconds; true at once if a signal came or nobody reads standard output any more.
  bool came_within(double seconds) const {
    pollfd wanted[] = {{.fd = pipe_[0], .events = POLLIN, .revents = 0},
                       {.fd = STDOUT_FILENO, .events = 0, .revents = 0}};  // its errors come unasked
    ::poll(wanted, 2, static_cast<int>(std::ceil(seconds * 1000)));
    if (wanted[1].revents != 0) return true;
    char byte;
    return ::read(pipe_[0], &byte, 1) == 1;
  }

 private:
  static inline int pipe_[2] = {-1, -1};
  struct sigaction before_[3] = {};
};

class Printer {
 public:
  Printer(const EventSelection& selection, const Following& following, bool json)
      : selection_(selection), following_(following), json_(json) {}

  void print(const std::string& run, const Event& event) {
    if (is_done_ || !selection_.has_run(run)) return;
    bool is_wanted = event.values.empty() && selection_.tags.empty();
    if (is_wanted) line(run, event, nullptr);
    for (const EventValue& value : event.values) {
      if (!selection_.has_tag(value.tag)) continue;
      line(run, event, &value);
      is_wanted = true;
    }
    is_done_ = is_wanted && following_.until_step && event.at.step >= *following_.until_step;
  }

  bool is_done() const { return is_done_; }

  void note_damage(const EventLog& log) {
    for (const auto& [name, run] : log.runs())
      for (const EventFileInfo& file : run.files()) {
        std::size_t& told = told_[file.path];
        for (; told < file.damage.size(); ++told)
          std::cerr << "runnel: " << damage_line(file.damage[told]) << "\n";
      }
  }

 private:
  void line(const std::string& run, const Event& event, const EventValue* value) {
    const std::string head =
        json_ ? cat("{\"run\": ", json_text(run), ", \"step\": ", event.at.step, ", \"wall_time\": ",
                    number_json({.at = {}, .number = event.at.wall, .dtype = DType::kDouble}))
              : cat(shown_name(run), "  step ", event.at.step);
    if (value && json_)
      std::cout << head << ", \"tag\": " << json_text(value->tag) << ", " << members(run, *value) << "}\n";
    else if (value)
      std::cout << head << "  " << shown_name(value->tag) << "  " << text(run, *value) << "\n";
    else if (json_)
      std::cout << head << ", \"event\": " << json_text(named(event)) << "}\n";
    else
      std::cout << head << "  [" << named(event) << "]\n";
  }

  // Later values of a tag do not say by what they are shown.
  const EventValue& about(const std::string& run, const EventValue& value) {
    EventValue& first = first_[{run, value.tag}];
    if (first.tag.empty() && first.plugin.empty()) {
      first = value;
      first.tensor = {};
    }
    return first;
  }

  static std::optional<EventPoint> number(const EventValue& value) {
    const Tensor& t = value.tensor;
    if (t.elements() != 1 || t.shape().rank() != 0) return std::nullopt;
    if (t.dtype() == DType::kFloat)
      return EventPoint{.at = {}, .number = t.scalar<float>(), .dtype = DType::kFloat};
    if (t.dtype() == DType::kDouble)
      return EventPoint{.at = {}, .number = t.scalar<double>(), .dtype = DType::kDouble};
    return std::nullopt;
  }

  std::string members(const std::string& run, const EventValue& value) {
    if (const std::optional<EventPoint> point = number(value)) return "\"value\": " + number_json(*point);
    return value_json(about(run, value), value);
  }

  std::string text(const std::string& run, const EventValue& value) {
    if (const std::optional<EventPoint> point = number(value)) return number_text(*point);
    constexpr std::size_t kLongest = 160;
    const EventValue& first = about(run, value);
    const std::string all = value_text(first, value);
    const std::string plain = first.plugin == "text" ? json_text(all) : all;
    return plain.size() <= kLongest ? plain : plain.substr(0, kLongest) + "...";
  }

  static std::string named(const Event& event) {
    switch (event.kind) {
      case EventKind::kVersion: return "file version " + event.text;
      case EventKind::kMetaGraph: return cat("meta graph of ", event.bytes.size(), " bytes");
      case EventKind::kSummary: return "summary without values";
      case EventKind::kSessionLog: break;
      default: return "event of a kind that is not known";
    }
    const std::string rest = event.checkpoint_path.empty() ? event.text : event.checkpoint_path;
    const char* kNames[] = {"session log", "START", "STOP", "CHECKPOINT"};
    const int status = event.session_status;
    return cat(kNames[status >= 0 && status < 4 ? status : 0], rest.empty() ? "" : " ", rest);
  }

  const EventSelection& selection_;
  const Following& following_;
  bool json_;
  bool is_done_ = false;
  std::map<std::string, std::size_t> told_;  // damage of a file
  std::map<std::pair<std::string, std::string>, EventValue> first_;
};

}  // namespace

void follow_events(const EventSelection& selection, const Following& following, bool json) {
  const Interrupts interrupts;
  const auto begin = SteadyClock::now();
  EventLog log(selection.path, selection.options);
  // Said when what is there is taken as old: all that comes after the line is printed.
  const bool is_there = real_file_system().exists(selection.path);
  if (!following.from_start) log.reload();
  if (!is_there) std::cerr << "runnel: '" << selection.path << "' is not there yet; waiting for it\n";
  Printer printer(selection, following, json);
  for (;;) {
    log.reload([&](const std::string& run, const Event& event) { printer.print(run, event); });
    printer.note_damage(log);
    std::cout.flush();
    const double left = following.seconds - std::chrono::duration<double>(SteadyClock::now() - begin).count();
    if (printer.is_done() || left <= 0 || !std::cout) return;
    if (interrupts.came_within(std::min(following.interval, left))) return;
  }
}

}  // namespace runnel
