// SPDX-License-Identifier: Apache-2.0
// The cgroups of a trace at one sample, from what each line says has changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "trace/value.h"
#include "usage/usage_sample.h"

namespace keplerd {

class TracedGroups {
 public:
  // Forgets all groups: a recording begins.
  void clear();

  // Applies the lists of a sample. Errors leave it in a state in which only clear() may be called.
  // `is_first`: it is the first one of a recording, so that earlier times are not known.
  Result<Done> apply(const TraceValue& sample, bool is_first);

  // Sets the groups and the classes of `usage`, for its CPUs. Views are valid until the next apply().
  void fill(UsageSample& usage) const;

  // The CPU time of the groups in the window, in microseconds; the same time counts once for each level.
  std::int64_t time() const { return time_; }

 private:
  struct Group {
    std::string path;
    std::uint64_t incarnation = 0;
    Nanoseconds usage{0};
    std::optional<Nanoseconds> before;
    std::uint32_t owner = 0;
    std::vector<int> cpus;  // empty: all
    GroupLimits limits;
    std::size_t parent = kNoGroup, index = kNoGroup;
  };
  using Order = std::vector<Group*>;

  Result<Done> end(const TraceValue& paths);
  Result<Order> move(const TraceValue& groups, bool is_first);
  Result<Done> place(const Order& added, const TraceValue* places);
  Result<Done> find_parents();
  Result<Done> note(const TraceValue& sample, bool is_first);
  Result<Done> add_up();
  Group* find(std::string_view path);

  std::unordered_map<std::string, std::unique_ptr<Group>> groups_;  // by path
  Order order_;
  std::uint64_t last_incarnation_ = 0;
  std::int64_t time_ = 0;
};

// CPU time, in microseconds, from `value`: at least `least`, and bounded so that sums cannot overflow.
std::optional<Nanoseconds> traced_time(const TraceValue& value, std::int64_t least = 0);

// As much in one window is more than any host has.
inline constexpr std::int64_t kMostTracedTime = std::int64_t{1} << 50;  // us

}  // namespace keplerd
