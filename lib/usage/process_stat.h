// SPDX-License-Identifier: Apache-2.0
// Parses /proc/PID/stat (proc_pid_stat(5)) as far as keplerd needs it, and its neighbours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "usage/usage_sample.h"

namespace keplerd {

struct ProcessStat {
  ProcessId id;
  std::int32_t parent = 0;  // pid
  std::string comm;         // as the process set it: any bytes
  bool kernel_thread = false;
  Nanoseconds usage{0};  // utime + stime, in steps of 10 ms; guest time is inside utime
};

Result<ProcessStat> parse_process_stat(std::string_view stat);

struct ProcessUsers {
  std::uint32_t real = 0;
  std::uint32_t effective = 0;
};

// The users in /proc/PID/status (proc_pid_status(5)), from its line "Uid:"; unset if there is none.
std::optional<ProcessUsers> parse_process_users(std::string_view status);

// The cgroup2 path in /proc/PID/cgroup ("/system.slice/cron.service"), from its line "0::"; empty if there is
// none. If the cgroup was removed while the process was in it, the mark " (deleted)" is stripped.
std::string_view parse_process_cgroup(std::string_view text);

}  // namespace keplerd
