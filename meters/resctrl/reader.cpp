// SPDX-License-Identifier: Apache-2.0
#include "meters/resctrl/reader.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/parse.h"
#include "host/host_root.h"
#include "meters/resctrl/groups.h"

namespace keplerd::resctrl {
namespace {

meters::Dies dies_of_packages(const std::vector<CpuUsage>& cpus) {
  std::map<int, std::set<int>> packages;
  for (const CpuUsage& cpu : cpus) packages[cpu.package].insert(cpu.die);
  meters::Dies dies;
  for (const auto& [package, of_package] : packages)
    if (of_package.size() == 1) dies.emplace(package, *of_package.begin());
  return dies;
}

}  // namespace

Reader::Reader(const HostRoot& host)
    : host_(host),
      processors_(host, no_descriptors_),
      cgroups_(host),
      kinds_(kCounted.begin(), kCounted.end()) {
  kinds_[static_cast<std::size_t>(CountKind::kMemoryTraffic)].exists =
      true;  // for the reason why it is unknown
}

meters::Dies find_dies(const HostRoot& host, const std::vector<CpuUsage>& cpus, CountKind kind) {
  if (kind == CountKind::kCoreEnergy) return dies_of_packages(cpus);
  meters::Dies dies;
  for (const CpuUsage& cpu : cpus) {
    std::array<char, 64> buffer;
    const std::string path = fmt::format("devices/system/cpu/cpu{}/cache/index3/id", cpu.number);
    const auto text = read_file(host.sysfs(), path.c_str(), buffer);
    const auto cache = text ? parse_number<int>(trim(*text)) : std::nullopt;
    if (cache && *cache >= 0) dies.emplace(*cache, cpu.die);
  }
  return dies;
}

// All that count must be of known dies: their amounts are part of all.
Result<meters::Steps> Reader::take_steps(const Result<std::vector<Group>>& groups, Nanoseconds since,
                                         Kind& kind, const meters::Dies& dies) {
  if (!groups) {
    kind.problem = kind.exists ? groups.error().message : std::string();
    kind.own.forget();
    return groups.error();
  }
  auto steps = kind.own.take(*groups, since);
  kind.exists = !(groups->front().*kind.counted.amounts).empty();
  kind.problem = kind.own.problem();
  for (const Group& group : *groups)
    for (const auto& [id, amount] : group.*kind.counted.amounts)
      if (kind.problem.empty() && !dies.contains(id))
        kind.problem = fmt::format("the {} {} of resctrl is not that of one die", kind.counted.domain, id);
  return steps;
}

std::map<std::string, std::string> Reader::read(Nanoseconds now) {
  const auto groups = read_groups(host_);
  const Nanoseconds since = last_ ? now - *last_ : Nanoseconds{0};
  last_ = now;
  const meters::Accounts::Held held = groups ? cgroups_.find(*groups) : meters::Accounts::Held();
  std::vector<CpuUsage> cpus;
  processors_.read("", cpus);
  std::map<std::string, std::string> texts;
  for (Kind& kind : kinds_) {
    meters::Dies dies = find_dies(host_, cpus, kind.counted.kind);
    const auto steps = take_steps(groups, since, kind, dies);
    if (dies.empty()) dies.emplace(0, 0);  // the problem needs a file
    kind.accounts.take(now, steps, held, dies);
    if (kind.exists) texts.merge(kind.accounts.texts(kind.problem));
  }
  return texts;
}

}  // namespace keplerd::resctrl
