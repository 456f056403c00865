// The real file system, the one in memory, and injected faults.
#include "graph/io/file_system.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/io/fault_file_system.h"
#include "graph/io/memory_file_system.h"
#include "tests/graph/scratch_directory.h"
#include "tests/graph/thrown.h"

using namespace runnel;

namespace {

void write(FileSystem& files, const std::string& path, const std::string& bytes, bool sync = true) {
  const auto file = files.open_for_writing(path, WriteMode::kTruncate);
  file->append(bytes);
  if (sync) file->sync();
  file->close();
}

// Runs the same check on the real file system and on the one in memory.
template <class Check>
void on_both(Check check) {
  ScratchDirectory scratch;
  check(real_file_system(), scratch.path());
  MemoryFileSystem memory;
  memory.make_directory("dir");
  check(memory, std::string("dir"));
}

}  // namespace

TEST_CASE("a written file is read back whole, in part and past its end") {
  on_both([](FileSystem& files, const std::string& dir) {
    write(files, dir + "/a", "hello world");
    CHECK(read_file(files, dir + "/a") == "hello world");
    CHECK_THROWS_WITH_AS(read_file(files, dir + "/a", 10), doctest::Contains("has 11 bytes"),
                         InvalidArgument);
    const auto file = files.open_for_reading(dir + "/a");
    CHECK(file->size() == 11);
    CHECK(file->read_at(6, 3) == "wor");
    CHECK(file->read_at(6, UINT64_MAX) == "world");
    CHECK(file->read_at(11, 1) == "");
    CHECK(file->read_at(UINT64_MAX, 5) == "");
  });
}

TEST_CASE("appending goes on at the end and exclusive creation refuses a file that is there") {
  on_both([](FileSystem& files, const std::string& dir) {
    write(files, dir + "/a", "one");
    files.open_for_writing(dir + "/a", WriteMode::kAppend)->append("two");
    CHECK(read_file(files, dir + "/a") == "onetwo");
    CHECK_THROWS_AS(files.open_for_writing(dir + "/a", WriteMode::kExclusive), AlreadyExists);
    files.open_for_writing(dir + "/a", WriteMode::kTruncate);
    CHECK(files.file_size(dir + "/a") == 0);
  });
}

TEST_CASE("names are listed sorted, renamed over others and removed") {
  on_both([](FileSystem& files, const std::string& dir) {
    for (const char* name : {"/b", "/a[1]", "/c d"}) write(files, dir + name, name);
    CHECK(files.list(dir) == std::vector<std::string>{"a[1]", "b", "c d"});
    files.rename(dir + "/b", dir + "/a[1]");
    CHECK(read_file(files, dir + "/a[1]") == "/b");
    files.remove(dir + "/c d");
    CHECK(files.list(dir) == std::vector<std::string>{"a[1]"});
    CHECK(files.exists(dir + "/a[1]"));
    CHECK_FALSE(files.exists(dir + "/a1"));
    CHECK(files.modified(dir + "/a[1]") > 0);
    CHECK(files.free_bytes(dir) > 0);
  });
}

TEST_CASE("a file is known again by its identity, under another name too, and not its successor") {
  on_both([](FileSystem& files, const std::string& dir) {
    write(files, dir + "/a", "x");
    write(files, dir + "/b", "x");
    const std::string a = files.identity(dir + "/a");
    CHECK(a == files.identity(dir + "/./a"));
    CHECK(a != files.identity(dir + "/b"));
    CHECK(a != files.identity(dir));
    files.rename(dir + "/a", dir + "/c");
    CHECK(a == files.identity(dir + "/c"));
    CHECK(files.identity(dir + "/a").empty());
    files.rename(dir + "/b", dir + "/c");
    CHECK(a != files.identity(dir + "/c"));
  });
}

TEST_CASE("missing files, directories and non-directories are told apart") {
  on_both([](FileSystem& files, const std::string& dir) {
    write(files, dir + "/file", "x");
    CHECK_THROWS_AS(files.open_for_reading(dir + "/none"), NotFound);
    CHECK_THROWS_AS(files.rename(dir + "/none", dir + "/x"), NotFound);
    CHECK_THROWS_AS(files.remove(dir + "/none"), NotFound);
    CHECK_THROWS_AS(files.list(dir + "/none"), NotFound);
    CHECK_THROWS_AS(files.open_for_writing(dir + "/none/x", WriteMode::kTruncate), NotFound);
    CHECK_THROWS_AS(files.open_for_reading(dir), FailedPrecondition);
    CHECK_THROWS_AS(files.remove_directory(dir), FailedPrecondition);
    CHECK_THROWS_AS(files.make_directory(dir + "/file"), AlreadyExists);
    CHECK_THROWS_AS(files.open_for_writing(dir + "/file/x", WriteMode::kTruncate), FailedPrecondition);
    CHECK(files.is_directory(dir));
    CHECK_FALSE(files.is_directory(dir + "/file"));
  });
}

TEST_CASE("directories are made with all their parents, and a second time is fine") {
  on_both([](FileSystem& files, const std::string& dir) {
    make_directories(files, dir + "/x//y/z/");
    make_directories(files, dir + "/x/y/z");
    CHECK(files.is_directory(dir + "/x/y/z"));
    CHECK(files.is_directory(dir + "/x/../x/./y/../../x/y/z/.."));
    files.remove_directory(dir + "/x/y/z");
    CHECK_FALSE(files.exists(dir + "/x/y/z"));
    make_directories(files, "");
  });
}

TEST_CASE("a file where a directory is wanted is named, with what to do") {
  on_both([](FileSystem& files, const std::string& dir) {
    write_file_atomically(files, dir + "/file", "x");
    for (const char* below : {"", "/a/b"})
      CHECK(message_of<AlreadyExists>([&] { make_directories(files, dir + "/file" + below); }) ==
            cat("cannot make directory '", dir,
                "/file': a file of that name is in the way; move it away or give another path"));
  });
  CHECK(message_of<NotFound>([] { make_directories(real_file_system(), "/proc/runnel/a"); }) ==
        "cannot make directory '/proc/runnel': '/proc' takes no new directories; give another "
        "path");
}

TEST_CASE("errors carry the action, the path and the system's reason") {
  FileSystem& files = real_file_system();
  CHECK(message_of<NotFound>([&] { files.open_for_reading("/no/such"); }) ==
        "cannot open '/no/such': No such file or directory");
  CHECK(message_of<InvalidArgument>([&] { files.remove(std::string("a\0b", 3)); }) ==
        "a path holds a zero byte after 'a'");
  CHECK(message_of<InvalidArgument>([&] { files.open_for_reading("/dev/null"); }) ==
        "cannot read '/dev/null': not a regular file");
}

TEST_CASE("a broken disk and a limit on files are no reason to try again, nor the end of an input") {
  FileSystem& files = real_file_system();
  const auto broken = files.open_for_writing("/proc/self/mem", WriteMode::kAppend);  // no memory is at 0
  CHECK(message_of<Unknown>([&] { broken->append("x"); }).ends_with("Input/output error"));
  const ScratchDirectory dir;
  const auto before = ::signal(SIGXFSZ, SIG_IGN);
  rlimit limit;
  ::getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small{.rlim_cur = 4, .rlim_max = limit.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  CHECK_THROWS_AS(write(files, dir / "a", "twelve bytes"), ResourceExhausted);
  ::setrlimit(RLIMIT_FSIZE, &limit);
  ::signal(SIGXFSZ, before);
}

TEST_CASE("a full disk tells the bytes wanted and the bytes free") {
  const auto full = real_file_system().open_for_writing("/dev/full", WriteMode::kAppend);
  const std::string message = message_of<ResourceExhausted>([&] { full->append("12345"); });
  CHECK(message.starts_with("cannot write '/dev/full': No space left on device, 5 bytes wanted, "));
  MemoryFileSystem small(10);
  CHECK_THROWS_AS(write(small, "a", "twelve bytes"), ResourceExhausted);
}

TEST_CASE("a pipe without a writer is refused at once instead of waited for") {
  ScratchDirectory scratch;
  REQUIRE(::mkfifo((scratch / "pipe").c_str(), 0600) == 0);
  CHECK_THROWS_AS(real_file_system().open_for_reading(scratch / "pipe"), InvalidArgument);
}

TEST_CASE("a read-only directory is PermissionDenied with the reason") {
  if (::geteuid() == 0) return;  // root may write everywhere
  ScratchDirectory scratch;
  ::chmod(scratch.path().c_str(), 0500);
  CHECK_THROWS_AS(write(real_file_system(), scratch / "a", "x"), PermissionDenied);
}

TEST_CASE("paths split and join as the shell's dirname and basename do") {
  CHECK(parent_of("a/b/c") == "a/b");
  CHECK(parent_of("a//b/") == "a");
  CHECK(parent_of("c") == ".");
  CHECK(parent_of("/c") == "/");
  CHECK(parent_of("/") == "/");
  CHECK(base_name_of("a/b/c") == "c");
  CHECK(base_name_of("c/") == "c");
  CHECK(join_path("a", "b") == "a/b");
  CHECK(join_path("a/", "b") == "a/b");
  CHECK(join_path("", "b") == "b");
  CHECK(join_path("a", "/b") == "/b");
}

TEST_CASE("a temporary name tells its target and whose it is") {
  const std::string name = temporary_name("x/m.index");
  CHECK(name != temporary_name("x/m.index"));
  CHECK(target_of_temporary(name) == "x/m.index");
  CHECK(is_own_temporary(name));
  CHECK(target_of_temporary("m.index.tempstate123") == "m.index");
  CHECK_FALSE(is_own_temporary("m.index.tempstate123"));
  for (const char* other : {"m.index", "m.tempstate", "m.tempstate12x", ".tempstate12"})
    CHECK(target_of_temporary(other) == "");
}

TEST_CASE("an atomic write leaves old or new after each failure, and no temporary unless killed") {
  for (const Fault fault : {Fault::kNoSpace, Fault::kInputError, Fault::kShortWrite, Fault::kStop})
    for (int nth = 1; nth <= 6; ++nth) {
      CAPTURE(nth);
      MemoryFileSystem memory;
      FaultFileSystem files(memory);
      write_file_atomically(files, "state", "old");
      files.fail_at(nth, fault);
      CHECK_THROWS_AS(write_file_atomically(files, "state", "new"), Error);
      const auto left = memory.contents();
      CHECK((left.at("state") == "old" || (nth == 6 && left.at("state") == "new")));
      if (fault != Fault::kStop) CHECK(left.size() == 1);
    }
}

TEST_CASE("an atomic write survives a power cut after each operation") {
  for (const PowerCut cut : {PowerCut::kLosesAllUnsynced, PowerCut::kKeepsNames, PowerCut::kKeepsBytes})
    for (int nth = 1; nth <= 7; ++nth) {
      CAPTURE(nth);
      MemoryFileSystem memory;
      FaultFileSystem files(memory);
      write_file_atomically(files, "state", "old");
      files.fail_at(nth, Fault::kStop);
      bool done = true;
      try {
        write_file_atomically(files, "state", "new");
      } catch (const Aborted&) {
        done = false;
      }
      memory.reboot(cut);
      const std::string left = memory.contents().at("state");
      CHECK((left == "new" || (left == "old" && !done)));
      CHECK(done == (nth == 7));
    }
}

TEST_CASE("a power cut takes what was not synced: bytes, names, and what lies under lost names") {
  MemoryFileSystem memory;
  write(memory, "kept", "synced");
  memory.sync_directory(".");
  write(memory, "kept", "later", false);
  write(memory, "unnamed", "synced bytes without a synced name");
  memory.make_directory("d");
  write(memory, "d/inner", "x");
  memory.sync_directory("d");
  memory.reboot(PowerCut::kLosesAllUnsynced);
  CHECK(memory.contents() == std::map<std::string, std::string>{{"kept", "synced"}});
}

TEST_CASE("a rename kept before its bytes gives an empty file, as old ext4 did") {
  MemoryFileSystem memory;
  write(memory, "new", "never synced", false);
  memory.rename("new", "file");
  memory.reboot(PowerCut::kKeepsNames);
  CHECK(memory.contents() == std::map<std::string, std::string>{{"file", ""}});
}

TEST_CASE("crash states: any of the names that are not synced, bytes lost, torn, zero or kept") {
  MemoryFileSystem memory;
  const auto file = memory.open_for_writing("a", WriteMode::kExclusive);
  memory.sync_directory(".");
  file->append("12");
  file->sync();
  CHECK(memory.crash_states() == std::vector<DiskContents>{{{"a", "12"}}});
  file->append("3456");
  CHECK(memory.crash_states() ==
        std::vector<DiskContents>{
            {{"a", "12"}}, {{"a", std::string("12\0\0\0\0", 6)}}, {{"a", "1234"}}, {{"a", "123456"}}});
  file->sync();
  memory.rename("a", "b");
  write(memory, "c", "");
  CHECK(memory.crash_states() == std::vector<DiskContents>{{{"a", "123456"}},
                                                           {{"a", "123456"}, {"c", ""}},
                                                           {{"b", "123456"}},
                                                           {{"b", "123456"}, {"c", ""}}});
  memory.sync_directory(".");
  memory.remove("c");
  memory.remove("b");
  CHECK(memory.crash_states().size() == 4);
  memory.boot({{"d", std::nullopt}, {"d/e", "x"}});
  CHECK(memory.list("d") == std::vector<std::string>{"e"});
  CHECK(memory.crash_states() == std::vector<DiskContents>{{{"d", std::nullopt}, {"d/e", "x"}}});
}

TEST_CASE("new directories outlive a power cut since their parents are synced") {
  MemoryFileSystem memory;
  make_directories(memory, "a/b/c");
  memory.reboot(PowerCut::kLosesAllUnsynced);
  CHECK(memory.is_directory("a/b/c"));
}

TEST_CASE("a file takes no place of a closed standard stream, where it would get what is printed") {
  const ScratchDirectory scratch;
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const int kept = ::dup(stream);
    ::close(stream);
    bool printed = false;
    {
      const auto file = real_file_system().open_for_writing(scratch / "file", WriteMode::kTruncate);
      printed = ::write(stream, "printed", 7) == 7;
    }
    ::dup2(kept, stream);
    ::close(kept);
    CAPTURE(stream);
    CHECK(printed);
    CHECK(read_file(real_file_system(), scratch / "file") == "");
  }
}
