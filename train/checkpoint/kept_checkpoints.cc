// The rule of retention (behaviours 8, "Retention").
#include "train/checkpoint/kept_checkpoints.h"

#include <algorithm>

namespace runnel {

void KeptCheckpoints::recover(std::vector<KeptCheckpoint> list, double last_preserved) {
  list_ = std::move(list);
  last_preserved_ = last_preserved;
  if (last_preserved > 0) keep_next_ = last_preserved + rule_.hours_apart * 3600;
}

std::vector<std::string> KeptCheckpoints::add(KeptCheckpoint newest) {
  std::erase_if(list_, [&](const KeptCheckpoint& kept) { return kept.prefix == newest.prefix; });
  list_.push_back(std::move(newest));
  std::vector<std::string> dropped;
  while (rule_.newest > 0 && list_.size() > static_cast<std::size_t>(rule_.newest)) {
    const KeptCheckpoint oldest = list_.front();
    list_.erase(list_.begin());
    if (oldest.time > keep_next_) {
      last_preserved_ = oldest.time;
      keep_next_ += rule_.hours_apart * 3600;
    } else {
      dropped.push_back(oldest.prefix);
    }
  }
  return dropped;
}

}  // namespace runnel
