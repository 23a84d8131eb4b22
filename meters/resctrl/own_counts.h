// SPDX-License-Identifier: Apache-2.0
// How much of one kind has been counted of each monitoring group between two readings of all groups. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "meters/resctrl/groups.h"

namespace keplerd::resctrl {

class OwnCounts {
 public:
  explicit OwnCounts(const Counted& counted) : counted_(counted) {}

  // The steps since the last call, by group, and cache or package; without those of other groups in it. Fails
  // if the count of any group is not known: then that of all of them together is not known, either. That is
  // the case if a counter cannot be read now or could not be read at the last call, or if one has gone back.
  // It is also the case for one more call after that, and for the first two: the kernel may have left out a
  // group then that it includes again. A group that is new begins with 0, whatever its counter reads.
  Result<meters::Steps> take(const std::vector<Group>& groups, Nanoseconds since_last);
  // Nothing is known of the time until the next call.
  void forget() { has_last_ = false; }
  // Why a counter could not be read at the last call; empty if all could.
  const std::string& problem() const { return last_.problem; }

 private:
  using Key = std::pair<std::uint64_t, int>;
  struct Values {
    std::map<Key, Amount> read;  // as the files have them
    std::map<Key, Amount> own;   // without those of other groups; never less than before
    std::string problem;         // not empty: some could not be read
  };
  using Moved = std::map<Key, Amount>;
  Values values_of(const std::vector<Group>& groups) const;
  Moved moved_inside(const std::vector<Group>& groups, const Moved& before, const Moved& now) const;

  Counted counted_;
  bool has_last_ = false;
  bool is_doubtful_ = false;  // whether the last values are what they seem
  Values last_;
};

}  // namespace keplerd::resctrl
