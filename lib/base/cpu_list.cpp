// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_list.h"

#include <set>

#include "base/parse.h"

namespace keplerd {
namespace {

constexpr unsigned kHighestCpu = 65535;  // far above what Linux supports

std::optional<int> parse_cpu(std::string_view text) {
  const auto cpu = parse_number<unsigned>(text);
  if (!cpu || *cpu > kHighestCpu) return std::nullopt;
  return static_cast<int>(*cpu);
}

}  // namespace

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  text = trim(text);
  std::set<int> cpus;
  while (!text.empty()) {
    auto range = take_until(text, ',');
    const auto first = parse_cpu(take_until(range, '-'));
    const auto last = range.empty() ? first : parse_cpu(range);
    if (!first || !last || *last < *first) return std::nullopt;
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.insert(cpu);
  }
  return std::vector<int>(cpus.begin(), cpus.end());
}

}  // namespace keplerd
