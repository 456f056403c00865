// The rate is a mean that forgets: what is older than a few seconds hardly counts, so that the time to go
// follows a loop that becomes slower.
#include "train/monitored/progress_bar.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>

#include "graph/error.h"
#include "graph/open_line.h"
#include "ops/global_step.h"
#include "train/monitored/value_text.h"

namespace runnel {
namespace {

constexpr double kMemorySecs = 5;        // of the rate
constexpr std::size_t kColumns = 79;     // of a line on a terminal
constexpr std::size_t kWidest = 24;      // of a bar
constexpr double kLongest = 100 * 3600;  // seconds; a longer time to go is not told

// "0:07", "12:30", "3:05:00".
std::string time_text(double secs) {
  const auto all = static_cast<std::int64_t>(std::llround(secs));
  char text[64];
  if (all >= 3600)
    std::snprintf(text, sizeof(text), "%lld:%02lld:%02lld", static_cast<long long>(all / 3600),
                  static_cast<long long>(all / 60 % 60), static_cast<long long>(all % 60));
  else
    std::snprintf(text, sizeof(text), "%lld:%02lld", static_cast<long long>(all / 60),
                  static_cast<long long>(all % 60));
  return text;
}

void require_time(double secs, const char* what, Location where) {
  if (!(secs >= 0))
    throw InvalidArgument(cat("progress_bar: ", what, " is ", secs, ": give 0 or more"), where);
}

std::int64_t checked(std::int64_t steps, const ProgressBarOptions& o) {
  if (steps < 1)
    throw InvalidArgument(cat("progress_bar: ", steps, " steps are no way to go: give 1 or more"), o.where);
  require_time(o.bar_secs, "bar_secs", o.where);
  require_time(o.line_secs, "line_secs", o.where);
  return steps;
}

double secs_between(std::int64_t from, std::int64_t to) { return static_cast<double>(to - from) * 1e-9; }

}  // namespace

ProgressBar::ProgressBar(std::int64_t steps, ProgressBarOptions options)
    : steps_(checked(steps, options)),
      options_(std::move(options)),
      clock_(options_.clock ? *options_.clock : system_clock()),
      terminal_(options_.terminal.value_or(isatty(STDERR_FILENO) != 0)) {}

ProgressBar::~ProgressBar() {
  try {
    if (std::exchange(line_open_, false)) write("\n");
  } catch (...) {  // a bar is never worth an exception
  }
}

void ProgressBar::restart() {
  due_ = 0;
  first_.reset();
  last_.reset();
  rate_ = 0;
  finished_ = false;
}

void ProgressBar::update(std::int64_t done, const std::function<std::string()>& note) {
  if (finished_) return;
  const Moment now{.done = done, .steady_nanos = clock_.steady_nanos()};
  if (first_ && now.steady_nanos < due_ && done < steps_) return;
  due_ = clock_.deadline_in(terminal_ ? options_.bar_secs : options_.line_secs);
  measure(now);
  if (done >= steps_) return finish(done, note ? note() : "");
  std::string text;
  if (rate_ > 0) {
    const double to_go = static_cast<double>(steps_ - done) / rate_;
    text = rate_text(rate_);
    if (to_go < kLongest) text.append("  ETA ").append(time_text(to_go));
  }
  draw(done, text, note ? note() : "", false);
}

void ProgressBar::finish(std::int64_t done, const std::string& note) {
  if (std::exchange(finished_, true) || !first_) return;
  const double secs = secs_between(first_->steady_nanos, clock_.steady_nanos());
  const double rate = secs > 0 ? static_cast<double>(done - first_->done) / secs : 0;
  draw(done, cat(rate > 0 ? rate_text(rate).append("  ") : "", "in ", time_text(secs)), note, true);
}

void ProgressBar::measure(const Moment& now) {
  if (!first_) first_ = now;
  if (last_) {
    const double secs = secs_between(last_->steady_nanos, now.steady_nanos);
    if (secs <= 0) return;  // the clock has not moved: with the next one
    const double rate = static_cast<double>(now.done - last_->done) / secs;
    const double weight = rate_ > 0 ? 1 - std::exp(-secs / kMemorySecs) : 1;
    rate_ = std::max(0.0, rate_ + weight * (rate - rate_));
  }
  last_ = now;
}

void ProgressBar::draw(std::int64_t done, const std::string& rate_and_time, const std::string& note,
                       bool last) {
  const double share = std::clamp(static_cast<double>(done) / static_cast<double>(steps_), 0.0, 1.0);
  const int percent = static_cast<int>(100 * share);
  std::string text;
  for (const std::string& part : {rate_and_time, note})
    if (!part.empty()) text.append("  ").append(part);
  line_open_ = terminal_ && !last;
  if (!terminal_) return write(cat(options_.unit, " ", done, "/", steps_, " (", percent, "%)", text, "\n"));
  text = cat(percent < 100 ? percent < 10 ? "]   " : "]  " : "] ", percent, "% ", done, "/", steps_, text);
  const std::size_t taken = text.size() + 1;  // with the bracket before the bar
  const std::size_t room = taken < kColumns ? kColumns - taken : 0;
  write(cat("\r[", bar(share, room), text, "\x1b[K", last ? "\n" : ""));
}

std::string ProgressBar::bar(double share, std::size_t room) const {
  const std::size_t width = std::min(room, kWidest);
  const auto full = static_cast<std::size_t>(static_cast<double>(width) * share);
  return std::string(full, '#') + std::string(width - full, '.');
}

// "258.8 steps/s"; of slow steps "2.5 s/step".
std::string ProgressBar::rate_text(double rate) const {
  char number[64];
  const double shown = rate >= 1 ? rate : 1 / rate;
  std::snprintf(number, sizeof(number), "%.*f", shown < 1000 ? 1 : 0, shown);
  return rate >= 1 ? cat(number, " ", options_.unit, "s/s") : cat(number, " s/", options_.unit);
}

void ProgressBar::write(std::string_view text) const {
  if (options_.write) return options_.write(text);
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
  set_open_line(line_open_);
}

ProgressBarHook::ProgressBarHook(std::int64_t steps, ProgressBarOptions options)
    : loss_(options.loss),
      steps_(steps),
      secs_between_looks_(options.bar_secs),
      clock_(options.clock ? *options.clock : system_clock()),
      bar_(steps, std::move(options)) {}

void ProgressBarHook::begin(Graph& graph) {
  if (get_global_step(graph)) step_ = GlobalStepReader(graph, name());
}

void ProgressBarHook::after_create_session(Session& session, Coordinator&) {
  bar_.restart();
  if (step_) done_ = step_->now(session);
  runs_ = next_look_ = 0;
}

std::optional<SessionRunArgs> ProgressBarHook::before_run(SessionRunContext&) {
  ++runs_;
  looks_ = clock_.steady_nanos() >= next_look_ || done_ + runs_ >= steps_;
  if (!looks_) return {};
  SessionRunArgs args;
  if (step_) args.fetches = step_->fetches();
  if (loss_) args.fetches.emplace_back(loss_);
  return args;
}

void ProgressBarHook::after_run(SessionRunContext& context, const SessionRunValues& values) {
  if (!looks_) return;
  next_look_ = clock_.deadline_in(secs_between_looks_);
  done_ = step_ ? step_->after(context, values) : done_ + runs_;
  runs_ = 0;
  if (loss_) last_loss_ = values.results.back();
  bar_.update(done_, [this] { return note(); });
}

void ProgressBarHook::end(Session& session) {
  bar_.finish(step_ ? step_->now(session) : done_ + runs_, note());
}

// A number in four digits, so that the line does not jump; all else as in a log line.
std::string ProgressBarHook::note() const {
  if (!last_loss_) return "";
  const bool is_float = last_loss_.dtype() == DType::kFloat, is_double = last_loss_.dtype() == DType::kDouble;
  if (last_loss_.elements() != 1 || (!is_float && !is_double)) return cat("loss ", value_text(last_loss_));
  char text[32];
  std::snprintf(text, sizeof(text), "loss %.4g",
                is_float ? double{last_loss_.scalar<float>()} : last_loss_.scalar<double>());
  return text;
}

Hook progress_bar(std::int64_t steps, ProgressBarOptions options) {
  return std::make_shared<ProgressBarHook>(steps, std::move(options));
}

}  // namespace runnel
