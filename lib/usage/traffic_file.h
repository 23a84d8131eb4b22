// SPDX-License-Identifier: Apache-2.0
// The text of a usage file of a memory (keplerd-meters(7)): /run/keplerd-usage/NAME/memory-DIE, in which a
// program of its own states how much cgroups have read from this memory and written to it. Pure.
//
//   BOOTTIME SINCE ALL       when that was read, and since when it has been counted without a gap:
//                            CLOCK_BOOTTIME in microseconds; and the bytes of all processes of the host
//   CGROUP BYTES SINCE       one line per cgroup for which it is measured, with those below it that have no
//   ...                      line: the inode number of its directory, its bytes, and since when these have
//                            been counted
//
// Or one line, "unknown REASON": why the traffic is not known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace keplerd {

inline constexpr std::size_t kMostMeasuredGroups = 1024;  // of a memory
inline constexpr std::int64_t kMostBytes = std::int64_t{1} << 62;

struct GroupTraffic {
  Bytes bytes;
  Nanoseconds since{0};

  bool operator==(const GroupTraffic&) const = default;
};

struct TrafficReading {
  Nanoseconds time{0}, since{0};  // CLOCK_BOOTTIME
  Bytes all;
  std::map<std::uint64_t, GroupTraffic> groups;  // by GroupUsage::identity

  bool operator==(const TrafficReading&) const = default;
};

// "memory-0": the file of the memory of this die.
std::string traffic_file_name(int die);
// Nothing if the name is another one.
std::optional<int> parse_traffic_file_name(std::string_view name);

// Fails if any line is malformed, or names a cgroup again; or with the reason why the traffic is not known.
Result<TrafficReading> parse_traffic_file(std::string_view text);
// The text that is parsed into it.
std::string traffic_text(const TrafficReading& reading);

}  // namespace keplerd
