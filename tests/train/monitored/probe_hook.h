// A hook for tests: made of functions, and it writes down what it is told.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "train/monitored/hook.h"

namespace runnel {

class Probe final : public SessionRunHook {
 public:
  explicit Probe(std::string called = "Probe", std::vector<std::string>* notes = nullptr)
      : called_(std::move(called)), notes_(notes) {}

  std::function<void(Session&, Coordinator&)> created = {};
  std::function<std::optional<SessionRunArgs>(SessionRunContext&)> before = {};
  std::function<void(SessionRunContext&, const SessionRunValues&)> after = {};
  std::function<void(Session&)> at_end = {};

  std::string name() const override { return called_; }
  void begin(Graph&) override { note("begin"); }
  void after_create_session(Session& session, Coordinator& coord) override {
    note("created");
    if (created) created(session, coord);
  }
  std::optional<SessionRunArgs> before_run(SessionRunContext& context) override {
    note("before");
    return before ? before(context) : std::nullopt;
  }
  void after_run(SessionRunContext& context, const SessionRunValues& values) override {
    note("after");
    if (after) after(context, values);
  }
  void end(Session& session) override {
    note("end");
    if (at_end) at_end(session);
  }

 private:
  void note(const char* what) {
    if (notes_) notes_->push_back(called_ + " " + what);
  }
  std::string called_;
  std::vector<std::string>* notes_;  // borrowed
};

}  // namespace runnel
