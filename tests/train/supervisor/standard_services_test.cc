// Services by themselves: the step counter's numbers.
#include "train/supervisor/standard_services.h"

#include <doctest/doctest.h>

#include "tests/graph/scratch_directory.h"
#include "tests/train/supervisor/logged_lines.h"
#include "tests/train/supervisor/supervised_model.h"

using namespace runnel;

TEST_CASE("the step counter writes steps a second since the call before, and logs the first ten") {
  const ScratchDirectory dir;
  const LoggedLines log;
  ManualClock clock;
  CountingModel m;
  const Operation init = initialize_global_variables(m.g);
  Session session(m.g);
  session.run(init);
  Coordinator coord({.clock = &clock});
  const auto writer = std::make_shared<FileWriter>(dir.path());
  const ServiceTools tools{session.share(), writer, Watchdog::start(coord), m.step.value()};
  std::uint64_t runs = session.stats().runs;
  start_step_counter(coord, tools, "global_step/sec", 100);
  for (int call = 0; call < 12; ++call) {
    until([&] { return session.stats().runs == runs + 1 && clock.waiting() == 2; });  // it waits again
    m.run(session, 5);
    runs = session.stats().runs;
    clock.advance(100);
  }
  until([&] { return session.stats().runs == runs + 1; });
  coord.request_stop();
  coord.join();
  writer->close();
  std::vector<float> rates;
  for (const std::string& name : real_file_system().list(dir.path()))
    for (const Event& event : EventReader(dir / name))
      for (const EventValue& value : event.values) rates.push_back(value.tensor.scalar<float>());
  CHECK(rates == std::vector<float>(12, 0.05f));
  CHECK(count(log.all(), "global_step/sec: 0.05") == 10);
}
