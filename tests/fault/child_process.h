// A process that a test starts, reads and signals.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

// What it writes, to its standard output or its log, is read line by line. Killed at the end if it still
// runs.
class ChildProcess {
 public:
  explicit ChildProcess(std::vector<std::string> command) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    // As from a terminal, also where this test runs in the background, with SIGINT ignored.
    sigset_t handled;
    ::sigemptyset(&handled);
    for (const int number : {SIGTERM, SIGINT}) ::sigaddset(&handled, number);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setsigdefault(&attributes, &handled);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    std::vector<char*> arguments;
    for (std::string& each : command) arguments.push_back(each.data());
    arguments.push_back(nullptr);
    if (::posix_spawn(&process_, arguments[0], &actions, &attributes, arguments.data(), environ) != 0)
      std::abort();
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    output_ = ::fdopen(ends[0], "r");
  }
  ~ChildProcess() {
    if (running_) {
      signal(SIGKILL);
      (void)exit_code();
    }
    std::fclose(output_);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Without its line end; nothing once it has ended.
  std::optional<std::string> line() {
    char text[4096];
    if (!std::fgets(text, sizeof text, output_)) return {};
    std::string out = text;
    while (!out.empty() && out.back() == '\n') out.pop_back();
    return out;
  }
  // Reads on to a line with this in it; false if there is none.
  bool says(const std::string& part) {
    while (const auto text = line())
      if (text->find(part) != std::string::npos) return true;
    return false;
  }
  void signal(int number) const { ::kill(process_, number); }
  // Waits for its end; minus the signal that it died of. Reads nothing.
  int exit_code() {
    int status = 0;
    if (::waitpid(process_, &status, 0) == process_) running_ = false;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  pid_t process_ = 0;
  bool running_ = true;
  std::FILE* output_ = nullptr;
};
