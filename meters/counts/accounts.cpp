// SPDX-License-Identifier: Apache-2.0
#include "meters/counts/accounts.h"

#include <algorithm>

#include "usage/count_file.h"

namespace keplerd::meters {
namespace {

constexpr Count kMost{kMostCount / 2};

}  // namespace

void Accounts::begin(Nanoseconds now, const Dies& dies) {
  since_ = now;
  dies_ = dies;
  all_.clear();
  for (const auto& [id, die] : dies) all_[die] = {};
  cgroups_.clear();
}

void Accounts::add(const Amount& amount, int die, Counts& counts) const {
  const auto others = static_cast<std::int64_t>(all_.size()) - 1;
  for (const auto& [other, all] : all_) {
    if (other == die) {
      counts[other] += others == 0 ? amount.all : amount.local;
    } else {
      counts[other] += Count{(amount.all - amount.local).value / others};
    }
  }
}

void Accounts::take(Nanoseconds now, const Result<Steps>& steps, const Held& held, const Dies& dies) {
  now_ = now;
  const bool is_full = std::ranges::any_of(all_, [](const auto& one) { return one.second > kMost; });
  if (!steps || dies != dies_ || is_full) {
    begin(now, dies);
  } else {
    for (const auto& [key, amount] : *steps) {
      const auto& [group, id] = key;
      const auto die = dies.find(id);
      if (die == dies.end()) continue;
      add(amount, die->second, all_);
      const auto before = held_.find(group);
      const auto after = held.find(group);
      const bool is_held = before != held_.end() && after != held.end() && before->second == after->second;
      const auto account = is_held ? cgroups_.find(after->second) : cgroups_.end();
      if (account != cgroups_.end()) add(amount, die->second, account->second.counts);
    }
  }
  std::map<std::uint64_t, Account> kept;
  for (const auto& [group, cgroup] : held) {
    const auto before = held_.find(group);
    const auto known = cgroups_.find(cgroup);
    const bool goes_on = known != cgroups_.end() && before != held_.end() && before->second == cgroup;
    kept.insert_or_assign(cgroup, goes_on ? known->second : Account{.since = now, .counts = {}});
  }
  cgroups_ = std::move(kept);
  held_ = held;
}

std::map<std::string, std::string> Accounts::texts(const std::string& problem) const {
  std::map<std::string, std::string> texts;
  for (const auto& [die, all] : all_) {
    std::string& text = texts[count_file_name({kind_, die})];
    if (!problem.empty()) {
      text = "unknown " + problem + "\n";
      continue;
    }
    CountReading reading{.time = now_, .since = since_, .all = all, .groups = {}};
    for (const auto& [cgroup, account] : cgroups_) {
      const auto count = account.counts.find(die);
      reading.groups[cgroup] = {count == account.counts.end() ? Count{} : count->second, account.since};
    }
    text = count_text(reading);
  }
  return texts;
}

}  // namespace keplerd::meters
