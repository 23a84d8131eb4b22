// SPDX-License-Identifier: Apache-2.0
// The energy of groups whose processes have not been read since they used it (GroupUsage::behind). It is kept
// per zone until they are, and then divided by what each of them has used since it was last read, with what
// is the group's other. Exact: what is put off is divided in full, or stays the group's other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "attribution/apportion.h"
#include "base/units.h"
#include "usage/usage_sample.h"

namespace keplerd {

struct ZoneAttribution;

class DeferredShares {
 public:
  // Begins a window. `own`: the groups' own time in it. Sets `own_since` to what each has used since its
  // processes were last read, this window included.
  void begin(const UsageSample& usage, std::span<const Nanoseconds> own, std::vector<Nanoseconds>& own_since);

  // Whether any group is behind in this window, or was until it.
  bool any() const { return !groups_.empty(); }

  // Puts off energy of a group that is behind, and half the width of its 95 % interval.
  void put_off(const GroupUsage& group, std::size_t zone, Microjoules energy, Microjoules error);

  // Divides what was put off for the groups whose processes have been read with this sample. `members`: of
  // each group, those that ran. `process_time`: of each process since it was last read.
  struct Times {
    const std::vector<std::vector<std::size_t>>& members;
    std::span<const Nanoseconds> process;
    std::span<const Nanoseconds> own_since;
  };
  void divide(const UsageSample& usage, const Times& times, std::vector<ZoneAttribution>& zones);

  // What was put off stays the groups' other: the zones are others from now on.
  void forget_zones();

 private:
  struct Owed {
    Microjoules energy, error;
  };
  struct Group {
    Nanoseconds own{0};        // used since its processes were read
    std::vector<Owed> zones;   // as far as anything was put off
    std::uint64_t window = 0;  // the last one in which it was there
  };
  void divide_zone(std::size_t group, const Owed& owed, const Times& times, ZoneAttribution& zone);

  std::unordered_map<std::uint64_t, Group> groups_;  // by incarnation; those that are behind
  std::uint64_t window_ = 0;
  std::vector<std::int64_t> weights_;
  std::vector<Microjoules> shares_;
  Apportioner apportioner_;
};

}  // namespace keplerd
