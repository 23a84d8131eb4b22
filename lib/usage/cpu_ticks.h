// SPDX-License-Identifier: Apache-2.0
// CPU time of the whole host and of its CPUs, and how many processes it has created, from /proc/stat
// (proc_stat(5)).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace keplerd {

// USER_HZ, the unit of times in /proc/stat and of processes' CPU and start times: 100 on every architecture
// that Linux supports today (proc_stat(5)).
inline constexpr Nanoseconds kTick = std::chrono::milliseconds(10);

// The fields of a line "cpu" or "cpuN" in clock ticks since boot: user, nice, system, idle, iowait, irq,
// softirq, steal.
inline constexpr std::size_t kCpuFields = 8;
using CpuFields = std::array<std::int64_t, kCpuFields>;

// In clock ticks (USER_HZ) since boot, over all CPUs or of one. `guest` and `guest_nice` are inside `user`
// and `nice`.
struct CpuTicks {
  std::int64_t busy = 0;        // user + nice + system + irq + softirq + steal
  std::int64_t idle = 0;        // idle + iowait (which may decrease)
  std::int64_t interrupts = 0;  // irq + softirq; part of busy

  bool operator==(const CpuTicks&) const = default;
};

CpuTicks add_up(const CpuFields& fields);

// Of all CPUs. `stat`: the text of /proc/stat, or at least its first line. Fields missing on old kernels are
// 0.
Result<CpuFields> parse_cpu_fields(std::string_view stat);

// How many processes and threads have been created since boot, by fork, clone and the like; 0 if the text
// does not say so.
std::uint64_t parse_forks(std::string_view stat);

// A line "cpuN".
struct CpuLine {
  int number = 0;
  CpuFields fields{};
};

// Sets `lines` to the lines "cpuN", by number, each once. CPUs that are offline have none; malformed lines
// are skipped.
void parse_cpu_lines(std::string_view stat, std::vector<CpuLine>& lines);

}  // namespace keplerd
