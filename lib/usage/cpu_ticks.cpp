// SPDX-License-Identifier: Apache-2.0
#include "usage/cpu_ticks.h"

#include <array>

#include "base/parse.h"
#include "host/host_root.h"

namespace keplerd {
namespace {

// Its line of interrupt counts grows with the machine: some 100 KiB on the largest ones.
constexpr std::size_t kStatLimit = 4 << 20;

}  // namespace

Result<CpuTicks> parse_cpu_ticks(std::string_view stat) {
  std::string_view line = take_until(stat, '\n');
  if (take_word(line) != "cpu") return Error{"/proc/stat: does not begin with the line 'cpu'"};
  enum { kUser, kNice, kSystem, kIdle, kIowait, kIrq, kSoftirq, kSteal, kFields };
  std::array<std::int64_t, kFields> ticks{};
  for (std::size_t i = 0; i < kFields; ++i) {
    const std::string_view word = take_word(line);
    if (word.empty() && i > kIdle) break;
    const auto number = parse_number<std::int64_t>(word);
    // Bounded so that sums cannot overflow; 2^55 ticks are 11 million years of one CPU.
    if (!number || *number < 0 || *number > (std::int64_t{1} << 55))
      return Error{"/proc/stat: malformed line 'cpu'"};
    ticks[i] = *number;
  }
  const std::int64_t interrupts = ticks[kIrq] + ticks[kSoftirq];
  return CpuTicks{.busy = ticks[kUser] + ticks[kNice] + ticks[kSystem] + interrupts + ticks[kSteal],
                  .idle = ticks[kIdle] + ticks[kIowait],
                  .interrupts = interrupts};
}

Result<CpuTicks> read_cpu_ticks(const HostRoot& host) {
  const auto text = read_text(host.procfs(), "stat", kStatLimit);
  if (!text) return text.error();
  return parse_cpu_ticks(*text);
}

}  // namespace keplerd
