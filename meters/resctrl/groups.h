// SPDX-License-Identifier: Apache-2.0
// Reads the monitoring groups of resctrl, below /sys/fs/resctrl (Documentation/filesystems/resctrl.rst):
//
//   .                       the default group: all tasks that are in no other one
//   CTRL/                   a control group (CTRL_MON)
//   [CTRL/]mon_groups/MON/  a monitoring group (MON) inside it
//   .../mon_data/mon_L3_ID/{mbm_total_bytes,mbm_local_bytes}    of the L3 cache with this id
//   .../mon_data/mon_PERF_PKG_ID/core_energy                    of the package with this number (Linux 7.0)
//   .../tasks               thread ids; those of a control group include its monitoring groups'
//
// The value of a control group, and of the default one, includes those of its monitoring groups; the kernel
// leaves out those that it fails to read. Groups can be renamed: they are identified by their inodes. Reading
// a value may sleep, and interrupts a CPU of that cache.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "meters/counts/accounts.h"
#include "usage/count_source.h"

namespace keplerd {
class HostRoot;
}

namespace keplerd::resctrl {

inline constexpr char kRoot[] = "fs/resctrl";  // below /sys
inline constexpr std::size_t kMostGroups = 1024, kMostDomains = 256;

// Of a cache: the bytes that were read and written through it, `local` from and to the memory of the same
// node. Of a package: the microjoules of its cores.
using meters::Amount;
// By the id of the cache, or the number of the package.
using Amounts = std::map<int, Result<Amount>>;

struct Group {
  std::uint64_t id = 0;      // read_identity() of its directory
  std::uint64_t parent = 0;  // of a monitoring group: the id of what it is in; 0: it is no monitoring group
  std::string path;          // below the root; "" is the default one
  Amounts caches = {}, packages = {};
};

// A kind of count: where groups have it, and how much of it is more than there can be in a second.
struct Counted {
  CountKind kind;
  Amounts Group::*amounts;
  Count most_per_second;
  std::string_view domain;  // of which each amount is, for messages
  std::string_view what;    // likewise
};
inline constexpr std::array<Counted, 2> kCounted = {{
    {CountKind::kMemoryTraffic, &Group::caches, {std::int64_t{1} << 42}, "L3 cache", "traffic of memory"},
    {CountKind::kCoreEnergy, &Group::packages, {100'000'000'000}, "package", "energy of cores"},
}};

// Whether what was to be read does not exist (any more).
bool is_gone(const Error& error);

// "mon_L3_03": the cache 3.
std::optional<int> parse_cache(std::string_view name);
// "mon_PERF_PKG_01": the package 1.
std::optional<int> parse_package(std::string_view name);

// All groups with their values; the default one is the first, and a monitoring group follows what it is in.
// Fails if resctrl is not mounted, counts nothing of this, or has too many groups, or one that may not be
// read. A group that vanishes meanwhile is left out.
Result<std::vector<Group>> read_groups(const HostRoot& host);

}  // namespace keplerd::resctrl
