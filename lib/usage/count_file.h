// SPDX-License-Identifier: Apache-2.0
// The text of a usage file of what the hardware counts of cgroups (keplerd-meters(7)), for example
// /run/keplerd-usage/NAME/memory-DIE: a program of its own writes it. Pure.
//
//   BOOTTIME SINCE ALL       when that was read, and since when it has been counted without a gap:
//                            CLOCK_BOOTTIME in microseconds; and the count of all processes of the host
//   CGROUP COUNT SINCE       one line per cgroup for which it is measured, with those below it that have no
//   ...                      line: the inode number of its directory, its count, and since when it has been
//                            counted
//
// Or one line, "unknown REASON": why the count is not known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "usage/count_source.h"

namespace keplerd {

inline constexpr std::size_t kMostMeasuredGroups = 1024;  // in a file
inline constexpr std::int64_t kMostCount = std::int64_t{1} << 62;

// "memory-0", "cores-0", "cycles-0", "instructions-0", "misses-0".
std::string count_file_name(const CountSource& source);
// Nothing if the name is another one.
std::optional<CountSource> parse_count_file_name(std::string_view name);

struct GroupCount {
  Count count;
  Nanoseconds since{0};

  bool operator==(const GroupCount&) const = default;
};

struct CountReading {
  Nanoseconds time{0}, since{0};  // CLOCK_BOOTTIME
  Count all;
  std::map<std::uint64_t, GroupCount> groups;  // by GroupUsage::identity

  bool operator==(const CountReading&) const = default;
};

// Fails if any line is malformed, or names a cgroup again; or with the reason why the count is not known.
Result<CountReading> parse_count_file(std::string_view text);
// The text that is parsed into it.
std::string count_text(const CountReading& reading);

}  // namespace keplerd
