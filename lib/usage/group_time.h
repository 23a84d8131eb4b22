// SPDX-License-Identifier: Apache-2.0
// Whether the CPU time of a group is explained by that of those of its members (its processes, or the groups
// in it) that have been read. Then, the others have not run, and need not be read (decisions 42 and 45).
#pragma once

#include <algorithm>

#include "base/units.h"

namespace keplerd {

class GroupTime {
 public:
  // Its members are about to be read. `usage`: of the group in all. While both its processes and groups in it
  // run, neither explain it.
  void begin(Nanoseconds usage) {
    rest_ = usage - usage_ - ahead_;
    usage_ = usage;
    rounding_ = kUnit;
    read_ = 0;
  }

  // One of them has been read, which has used so much since it was last read.
  void add(Nanoseconds used) {
    rest_ -= used;
    ++read_;
    if (used > Nanoseconds{0}) rounding_ = std::min(rounding_ + kUnit, kMostRounding);
  }

  // But for rounding. The group's time is read a little earlier than those of its members: what one of them
  // uses in between could hide what another has used before. Therefore, more time than the group's does not
  // explain it.
  bool is_explained() const { return rest_ <= rounding_ && rest_ >= -rounding_; }

  // All have been read, or the rest is explained. If time remains, members used it that are not in the group
  // any more. If a little is lacking, it is due to the rounding of the times of all, those that have not run
  // now included.
  void end() {
    was_explained_ = is_explained();
    const bool is_lacking = rest_ < -read_ * kUnit;
    ahead_ = was_explained_ || is_lacking ? -rest_ : Nanoseconds{0};
  }

  // At the last end().
  bool was_explained() const { return was_explained_; }

 private:
  static constexpr Nanoseconds kUnit = std::chrono::microseconds(1);  // to which each time is rounded down
  static constexpr Nanoseconds kMostRounding = std::chrono::milliseconds(1);

  Nanoseconds usage_{0};  // at the last reading
  Nanoseconds ahead_{0};  // by how much its members had used more then
  Nanoseconds rest_{0}, rounding_{0};
  int read_ = 0;  // members
  bool was_explained_ = false;
};

}  // namespace keplerd
