// SPDX-License-Identifier: Apache-2.0
#include "meters/resctrl/reader.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/parse.h"
#include "host/host_root.h"
#include "meters/resctrl/groups.h"

namespace keplerd::resctrl {
namespace {

constexpr Nanoseconds kPeriod = std::chrono::seconds(1), kLongestPause = std::chrono::seconds(30);
constexpr int kMostOfTime = 50;

}  // namespace

Dies find_dies(const HostRoot& host, Processors& processors) {
  std::vector<CpuUsage> cpus;
  processors.read("", cpus);
  Dies dies;
  for (const CpuUsage& cpu : cpus) {
    std::array<char, 64> buffer;
    const std::string path = fmt::format("devices/system/cpu/cpu{}/cache/index3/id", cpu.number);
    const auto text = read_file(host.sysfs(), path.c_str(), buffer);
    const auto cache = text ? parse_number<int>(trim(*text)) : std::nullopt;
    if (cache && *cache >= 0) dies.emplace(*cache, cpu.die);
  }
  return dies;
}

// All caches that count must be of known dies: their traffic is part of all traffic.
Result<OwnTraffic::Steps> Reader::read_steps(Nanoseconds now, Accounts::Held& held, const Dies& dies) {
  const auto groups = read_groups(host_);
  const Nanoseconds since = last_ ? now - *last_ : Nanoseconds{0};
  last_ = now;
  if (!groups) {
    problem_ = groups.error().message;
    traffic_.forget();
    return groups.error();
  }
  auto steps = traffic_.take(*groups, since);
  problem_ = traffic_.problem();
  for (const Group& group : *groups)
    for (const auto& [cache, traffic] : group.caches)
      if (problem_.empty() && !dies.contains(cache))
        problem_ = fmt::format("the L3 cache {} of resctrl is that of no CPU", cache);
  held = cgroups_.find(*groups);
  return steps;
}

std::map<std::string, std::string> Reader::read(Nanoseconds now) {
  Accounts::Held held;
  Dies dies = find_dies(host_, processors_);
  const auto steps = read_steps(now, held, dies);
  if (dies.empty()) dies.emplace(0, 0);  // the problem needs a file
  accounts_.take(now, steps, held, dies);
  return accounts_.texts(problem_);
}

Nanoseconds pause_after(Nanoseconds cpu_time) {
  return std::clamp(cpu_time * kMostOfTime, kPeriod, kLongestPause);
}

}  // namespace keplerd::resctrl
