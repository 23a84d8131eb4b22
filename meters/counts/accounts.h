// SPDX-License-Identifier: Apache-2.0
// Adds up what is counted of cgroups on each die, as texts of usage files. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/units.h"
#include "usage/count_source.h"

namespace keplerd::meters {

// What was counted somewhere, such as at a cache.
struct Amount {
  Count all;
  Count local;  // of what is of the same die; if that is not known, all

  bool operator==(const Amount&) const = default;
};

// What was counted of each group between two readings, by the id of the group, and that of the place.
using Steps = std::map<std::pair<std::uint64_t, int>, Amount>;

// The die (CpuUsage::die) of each place, by its id.
using Dies = std::map<int, int>;

class Accounts {
 public:
  // By the id of a group: the identity of the cgroup that it holds.
  using Held = std::map<std::uint64_t, std::uint64_t>;

  explicit Accounts(CountKind kind) : kind_(kind) {}

  // Takes what was read at `now` (CLOCK_BOOTTIME): the steps since the last call, and which cgroups are held
  // now. A step counts for a cgroup that its group held at the last call, too. What is not local is divided
  // evenly among the other dies. If the steps are not known, all counting begins again.
  void take(Nanoseconds now, const Result<Steps>& steps, const Held& held, const Dies& dies);

  // By the name of the file; with `problem`, the counts are not known.
  std::map<std::string, std::string> texts(const std::string& problem) const;

 private:
  using Counts = std::map<int, Count>;  // by die
  void begin(Nanoseconds now, const Dies& dies);
  void add(const Amount& amount, int die, Counts& counts) const;

  CountKind kind_;
  Nanoseconds now_{0}, since_{0};
  Dies dies_;
  Counts all_;
  struct Account {
    Nanoseconds since{0};
    Counts counts;
  };
  std::map<std::uint64_t, Account> cgroups_;
  Held held_;
};

}  // namespace keplerd::meters
