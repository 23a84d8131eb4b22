// SPDX-License-Identifier: Apache-2.0
// Whether the CPU time of a group is explained by that of those of its members (its processes, or the groups
// in it) that have been read. Then, the others have not run, and need not be read (decisions 42 and 45).
#pragma once

#include <chrono>
#include <cmath>

#include "base/units.h"

namespace keplerd {

class GroupTime {
 public:
  // Its members are about to be read. `usage`: of the group in all. While both its processes and groups in it
  // run, neither explain it.
  void begin(Nanoseconds usage) {
    rest_ = usage - usage_ - ahead_;
    usage_ = usage;
    running_ = 0;
  }

  // One of them has been read, which has used so much since it was last read.
  void add(Nanoseconds used) {
    rest_ -= used;
    running_ += used > Nanoseconds{0} ? 1 : 0;
  }

  // But for rounding. The group's time is read a little earlier than those of its members: what one of them
  // uses in between could hide what another has used before. Therefore, more time than the group's does not
  // explain it.
  bool is_explained() const { return std::chrono::abs(rest_) <= rounding(); }

  // All have been read, or the rest is explained. If time remains, members used it that are not in the group
  // any more. If some is lacking, it was used while they were read, and is part of the group's next time; if
  // it is still lacking then, it is the rounding of members that do not run, and is forgotten.
  void end() {
    was_explained_ = is_explained();
    const Nanoseconds lack = was_explained_ || rest_ > Nanoseconds{0} ? Nanoseconds{0} : -rest_;
    const bool is_still_lacking = std::chrono::abs(lack - lack_) <= rounding();
    lack_ = is_still_lacking ? Nanoseconds{0} : lack;
    ahead_ = was_explained_ ? -rest_ : lack_;
  }

  // At the last end().
  bool was_explained() const { return was_explained_; }

 private:
  // All times are rounded down to microseconds. The difference between two such times has a variance of a
  // sixth of a square microsecond, the sum of many is normally distributed: this is four times its standard
  // deviation, in addition to the rounding of the group's own time.
  Nanoseconds rounding() const {
    const double deviation = 1000 * std::sqrt(running_ / 6.0);  // ns
    return std::chrono::microseconds(2) + Nanoseconds(static_cast<Nanoseconds::rep>(4 * deviation));
  }

  Nanoseconds usage_{0};  // at the last reading
  Nanoseconds ahead_{0};  // by how much its members had used more then
  Nanoseconds lack_{0};   // the same, if they had used more than rounding explains
  Nanoseconds rest_{0};
  int running_ = 0;  // members
  bool was_explained_ = false;
};

}  // namespace keplerd
