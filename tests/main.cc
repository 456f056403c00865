// The main function of every unit test program. A test that hangs, in whatever wait, ends the program with
// its name when its time is over: far more than any of them needs, and less than the suite's timeout.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "tests/graph/sanitizers.h"

namespace {

constexpr unsigned kSeconds = runnel::kSanitized ? 1200 : 300;

// doctest tells of SIGABRT with the test's name.
void hangs(int) {
  constexpr char kText[] = "the test hangs: it is ended here\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kText, sizeof kText - 1);
  std::abort();
}

class TimeLimit final : public doctest::IReporter {
 public:
  explicit TimeLimit(const doctest::ContextOptions&) {}
  void test_run_start() override { std::signal(SIGALRM, hangs); }
  void test_case_start(const doctest::TestCaseData&) override { ::alarm(kSeconds); }
  void test_case_end(const doctest::CurrentTestCaseStats&) override { ::alarm(0); }

  void report_query(const doctest::QueryData&) override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

REGISTER_LISTENER("time limit", 1, TimeLimit);

}  // namespace
