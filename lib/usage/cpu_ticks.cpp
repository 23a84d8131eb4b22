// SPDX-License-Identifier: Apache-2.0
#include "usage/cpu_ticks.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/parse.h"

namespace keplerd {
namespace {

constexpr int kMostCpus = 8192;  // NR_CPUS of the kernels with the highest

enum { kUser, kNice, kSystem, kIdle, kIowait, kIrq, kSoftirq, kSteal };

// What follows the name of a line; nothing if it is malformed.
std::optional<CpuFields> parse_fields(std::string_view line) {
  CpuFields ticks{};
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const std::string_view word = take_word(line);
    if (word.empty() && i > kIdle) break;
    const auto number = parse_number<std::int64_t>(word);
    // Bounded so that sums cannot overflow; 2^55 ticks are 11 million years of one CPU.
    if (!number || *number < 0 || *number > (std::int64_t{1} << 55)) return std::nullopt;
    ticks[i] = *number;
  }
  return ticks;
}

}  // namespace

CpuTicks add_up(const CpuFields& fields) {
  const std::int64_t interrupts = fields[kIrq] + fields[kSoftirq];
  return {.busy = fields[kUser] + fields[kNice] + fields[kSystem] + interrupts + fields[kSteal],
          .idle = fields[kIdle] + fields[kIowait],
          .interrupts = interrupts};
}

Result<CpuFields> parse_cpu_fields(std::string_view stat) {
  std::string_view line = take_until(stat, '\n');
  if (take_word(line) != "cpu") return Error{"/proc/stat: does not begin with the line 'cpu'"};
  const auto fields = parse_fields(line);
  if (!fields) return Error{"/proc/stat: malformed line 'cpu'"};
  return *fields;
}

std::uint64_t parse_forks(std::string_view stat) {
  constexpr std::string_view kName = "\nprocesses ";
  const std::size_t begin = stat.rfind(kName);  // among the last lines, after a long one of interrupts
  if (begin == std::string_view::npos) return 0;
  stat.remove_prefix(begin + kName.size());
  return parse_number<std::uint64_t>(take_until(stat, '\n')).value_or(0);
}

void parse_cpu_lines(std::string_view stat, std::vector<CpuLine>& lines) {
  lines.clear();
  while (stat.starts_with("cpu")) {  // they are the first ones
    std::string_view line = take_until(stat, '\n');
    std::string_view name = take_word(line);
    take_prefix(name, "cpu");
    const auto number = parse_number<int>(name);
    const auto fields = parse_fields(line);
    if (number && *number >= 0 && *number < kMostCpus && fields) lines.push_back({*number, *fields});
  }
  std::ranges::sort(lines, {}, &CpuLine::number);
  const auto twins = [](const CpuLine& a, const CpuLine& b) { return a.number == b.number; };
  lines.erase(std::unique(lines.begin(), lines.end(), twins), lines.end());
}

}  // namespace keplerd
