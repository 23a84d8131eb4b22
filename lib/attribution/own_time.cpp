// SPDX-License-Identifier: Apache-2.0
#include "attribution/own_time.h"

#include <algorithm>

namespace keplerd {

Nanoseconds time_in_window(const GroupUsage& group) {
  if (!group.before) return Nanoseconds{0};
  return std::max(group.usage - *group.before, Nanoseconds{0});
}

void OwnTimes::update(std::span<const GroupUsage> groups, std::vector<Nanoseconds>& own) {
  own.assign(groups.size(), Nanoseconds{0});
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Nanoseconds time = time_in_window(groups[i]);
    own[i] += time;
    if (groups[i].parent != kNoGroup) own[groups[i].parent] -= time;
  }

  next_deficits_.clear();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto deficit = deficits_.find(groups[i].incarnation);
    if (deficit != deficits_.end()) own[i] -= deficit->second;
    if (own[i] >= Nanoseconds{0}) continue;
    next_deficits_[groups[i].incarnation] = -own[i];
    own[i] = Nanoseconds{0};
  }
  std::swap(deficits_, next_deficits_);
}

}  // namespace keplerd
