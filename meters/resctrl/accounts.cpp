// SPDX-License-Identifier: Apache-2.0
#include "meters/resctrl/accounts.h"

#include <algorithm>

#include "usage/traffic_file.h"

namespace keplerd::resctrl {
namespace {

constexpr Bytes kMost{kMostBytes / 2};

}  // namespace

void Accounts::begin(Nanoseconds now, const Dies& dies) {
  since_ = now;
  dies_ = dies;
  all_.clear();
  for (const auto& [cache, die] : dies) all_[die] = {};
  cgroups_.clear();
}

void Accounts::add(const Traffic& traffic, int die, Memories& memories) const {
  const auto others = static_cast<std::int64_t>(all_.size()) - 1;
  for (const auto& [other, bytes] : all_) {
    if (other == die) {
      memories[other] += others == 0 ? traffic.all : traffic.local;
    } else {
      memories[other] += Bytes{(traffic.all - traffic.local).value / others};
    }
  }
}

void Accounts::take(Nanoseconds now, const Result<OwnTraffic::Steps>& steps, const Held& held,
                    const Dies& dies) {
  now_ = now;
  const bool is_full = std::ranges::any_of(all_, [](const auto& one) { return one.second > kMost; });
  if (!steps || dies != dies_ || is_full) {
    begin(now, dies);
  } else {
    for (const auto& [key, traffic] : *steps) {
      const auto& [group, cache] = key;
      const auto die = dies.find(cache);
      if (die == dies.end()) continue;
      add(traffic, die->second, all_);
      const auto before = held_.find(group);
      const auto after = held.find(group);
      const bool is_held = before != held_.end() && after != held.end() && before->second == after->second;
      const auto account = is_held ? cgroups_.find(after->second) : cgroups_.end();
      if (account != cgroups_.end()) add(traffic, die->second, account->second.memories);
    }
  }
  std::map<std::uint64_t, Account> kept;
  for (const auto& [group, cgroup] : held) {
    const auto before = held_.find(group);
    const auto known = cgroups_.find(cgroup);
    const bool goes_on = known != cgroups_.end() && before != held_.end() && before->second == cgroup;
    kept.insert_or_assign(cgroup, goes_on ? known->second : Account{.since = now, .memories = {}});
  }
  cgroups_ = std::move(kept);
  held_ = held;
}

std::map<std::string, std::string> Accounts::texts(const std::string& problem) const {
  std::map<std::string, std::string> texts;
  for (const auto& [die, all] : all_) {
    std::string& text = texts[traffic_file_name(die)];
    if (!problem.empty()) {
      text = "unknown " + problem + "\n";
      continue;
    }
    TrafficReading reading{.time = now_, .since = since_, .all = all, .groups = {}};
    for (const auto& [cgroup, account] : cgroups_) {
      const auto bytes = account.memories.find(die);
      reading.groups[cgroup] = {bytes == account.memories.end() ? Bytes{} : bytes->second, account.since};
    }
    text = traffic_text(reading);
  }
  return texts;
}

}  // namespace keplerd::resctrl
