// SPDX-License-Identifier: Apache-2.0
#include "usage/process_clock.h"

#include <ctime>

namespace keplerd {

std::optional<Nanoseconds> read_process_clock(std::int32_t pid) {
  // Equivalent of clock_getcpuclockid(3) for a pid (CPUCLOCK_SCHED, linux/posix-timers.h), without its extra
  // system call.
  constexpr unsigned kSchedClock = 2;
  const auto clock = static_cast<clockid_t>(~static_cast<unsigned>(pid) << 3 | kSchedClock);
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return std::nullopt;
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_nsec / 1000);
}

}  // namespace keplerd
