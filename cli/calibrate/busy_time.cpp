// SPDX-License-Identifier: Apache-2.0
#include "cli/calibrate/busy_time.h"

#include "base/parse.h"
#include "host/kept_file.h"

namespace keplerd::cli::calibrate {

Result<Nanoseconds> read_busy_time(const HostRoot& host) {
  constexpr std::size_t kLongest = 4096;
  if (!host.cgroupfs()) return Error{"no cgroup2 is mounted"};
  const auto text = read_text(*host.cgroupfs(), "cpu.stat", kLongest);
  if (!text) return text.error();
  return parse_busy_time(*text);
}

Result<Nanoseconds> parse_busy_time(std::string_view cpu_stat) {
  while (!cpu_stat.empty()) {
    std::string_view line = take_until(cpu_stat, '\n');
    if (!take_prefix(line, "usage_usec ")) continue;
    if (const auto usec = parse_number<std::int64_t>(line); usec && *usec >= 0)
      return Nanoseconds(std::chrono::microseconds(*usec));
  }
  return Error{"cpu.stat: no usage_usec"};
}

}  // namespace keplerd::cli::calibrate
