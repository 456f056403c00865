// What tests of saves that fail share: files in memory behind a layer that injects faults, and the kinds of
// faults to go through.
#pragma once

#include <string>

#include "graph/error.h"
#include "graph/io/fault_file_system.h"
#include "graph/io/memory_file_system.h"

namespace runnel {

inline constexpr Fault kFailures[] = {Fault::kNoSpace, Fault::kInputError, Fault::kShortWrite};
inline constexpr PowerCut kPowerCuts[] = {PowerCut::kLosesAllUnsynced, PowerCut::kKeepsNames,
                                          PowerCut::kKeepsBytes};

struct FaultyDisk {
  MemoryFileSystem memory;
  FaultFileSystem files{memory};

  struct Outcome {
    bool done;      // no error was reported
    bool finished;  // it took fewer operations than it would have needed to meet the fault
    int operations;
  };
  // What `save` comes to when its nth file operation fails; none fails afterwards.
  template <class Save>
  Outcome with_fault(int nth, Fault fault, Save save) {
    files.fail_at(nth, fault);
    bool done = true;
    try {
      save();
    } catch (const Error&) {
      done = false;
    }
    const int operations = files.operations();
    files.fail_at(0, fault);
    return {done, operations < nth, operations};
  }

  // What a disk holds as another process sees it: this process's mark in temporaries' names replaced, by the
  // same numbers in every run.
  static DiskContents disowned(const DiskContents& disk) {
    DiskContents out;
    int number = 0;
    for (const auto& [path, bytes] : disk) {
      const std::string target = target_of_temporary(path);
      out[target.empty() ? path : cat(target, ".tempstate5", number++)] = bytes;
    }
    return out;
  }

  // Temporaries in "d" as another process sees them: this process's mark replaced.
  void disown_temporaries() {
    for (const std::string& name : memory.list("d"))
      if (is_own_temporary(name))
        memory.rename("d/" + name,
                      "d/" + target_of_temporary(name) + ".tempstate5" + name.substr(name.size() - 1));
  }

  bool has_temporaries() {
    for (const std::string& name : memory.list("d"))
      if (!target_of_temporary(name).empty()) return true;
    return false;
  }
};

}  // namespace runnel
