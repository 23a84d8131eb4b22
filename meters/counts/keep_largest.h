// SPDX-License-Identifier: Apache-2.0
// Which of the largest cgroups are measured, if not all of them can be.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace keplerd::meters {

// `list`: first cgroups that somebody has named, then others, the largest first. Removes all but `most` of
// the others. One that is measured stays until it is not among one and a half times as many: what is measured
// of a new one can only be used from its second reading on.
template <class Cgroup, class IsMeasured>
void keep_largest(std::vector<Cgroup>& list, std::size_t named, std::size_t most, IsMeasured is_measured) {
  const auto others = list.begin() + static_cast<std::ptrdiff_t>(named);
  const auto candidates = static_cast<std::ptrdiff_t>(std::min(most + most / 2, list.size() - named));
  std::stable_partition(others, others + candidates, is_measured);
  if (list.size() - named > most) list.erase(others + static_cast<std::ptrdiff_t>(most), list.end());
}

}  // namespace keplerd::meters
