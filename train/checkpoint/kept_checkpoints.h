// Which checkpoints of one directory a saver keeps: the newest few, and now and then one for ever. Decides
// and remembers; deleting is the saver's.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace runnel {

struct KeptCheckpoint {
  std::string prefix;
  double time = 0;  // when it was saved, in seconds since 1970
};

struct KeepRule {
  int newest = 0;          // how many; 0: all
  double hours_apart = 0;  // one in so many hours is kept for ever
};

class KeptCheckpoints {
 public:
  // `start`: the time from which the hours count.
  KeptCheckpoints(KeepRule rule, double start) : rule_(rule), keep_next_(start + rule.hours_apart * 3600) {}

  // Takes over what an earlier process left, oldest first.
  void recover(std::vector<KeptCheckpoint> list, double last_preserved);
  // Adds the newest, which moves to the end if it is there. Returns those that are to be deleted.
  std::vector<std::string> add(KeptCheckpoint newest);

  const std::vector<KeptCheckpoint>& list() const { return list_; }  // oldest first
  double last_preserved() const { return last_preserved_; }          // 0: none yet

 private:
  KeepRule rule_;
  double keep_next_;
  double last_preserved_ = 0;
  std::vector<KeptCheckpoint> list_;
};

}  // namespace runnel
