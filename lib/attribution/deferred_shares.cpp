// SPDX-License-Identifier: Apache-2.0
#include "attribution/deferred_shares.h"

#include <algorithm>
#include <cmath>

#include "attribution/attributor.h"
#include "attribution/half_width.h"

namespace keplerd {

void DeferredShares::begin(const UsageSample& usage, std::span<const Nanoseconds> own,
                           std::vector<Nanoseconds>& own_since) {
  ++window_;
  own_since.assign(own.begin(), own.end());
  for (std::size_t i = 0; i < usage.groups.size(); ++i) {
    const GroupUsage& group = usage.groups[i];
    if (groups_.empty() && !group.behind) continue;
    const auto known =
        group.behind ? groups_.try_emplace(group.incarnation).first : groups_.find(group.incarnation);
    if (known == groups_.end()) continue;
    known->second.window = window_;
    own_since[i] = known->second.own += own[i];
  }
  std::erase_if(groups_, [this](const auto& entry) { return entry.second.window != window_; });
}

void DeferredShares::put_off(const GroupUsage& group, std::size_t zone, Microjoules energy,
                             Microjoules error) {
  std::vector<Owed>& zones = groups_.at(group.incarnation).zones;
  if (zones.size() <= zone) zones.resize(zone + 1);
  zones[zone].energy += energy;
  zones[zone].error += error;
}

void DeferredShares::divide(const UsageSample& usage, const Times& times,
                            std::vector<ZoneAttribution>& zones) {
  for (ZoneAttribution& zone : zones) {
    for (auto* const late : {&zone.late, &zone.late_error, &zone.late_other, &zone.late_group}) late->clear();
  }
  if (groups_.empty()) return;
  for (std::size_t i = 0; i < usage.groups.size(); ++i) {
    if (usage.groups[i].behind) continue;
    const auto known = groups_.find(usage.groups[i].incarnation);
    if (known == groups_.end()) continue;
    for (std::size_t z = 0; z < known->second.zones.size(); ++z) {
      if (known->second.zones[z].energy == Microjoules{}) continue;
      ZoneAttribution& zone = zones[z];
      zone.late.resize(usage.processes.size());
      zone.late_error.resize(usage.processes.size());
      zone.late_other.resize(usage.groups.size());
      zone.late_group.resize(usage.groups.size());
      divide_zone(i, known->second.zones[z], times, zone);
    }
    groups_.erase(known);
  }
}

void DeferredShares::divide_zone(std::size_t group, const Owed& owed, const Times& times,
                                 ZoneAttribution& zone) {
  const std::vector<std::size_t>& members = times.members[group];
  zone.late_group[group] = owed.energy;
  weights_.clear();
  Nanoseconds other = times.own_since[group];
  for (const std::size_t process : members) {
    weights_.push_back(times.process[process].count());
    other -= times.process[process];
  }
  weights_.push_back(std::max<std::int64_t>(other.count(), 0));
  if (std::ranges::all_of(weights_, [](std::int64_t weight) { return weight == 0; })) {
    zone.late_other[group] = owed.energy;
    return;
  }
  shares_.resize(weights_.size());
  apportioner_.apportion(owed.energy, weights_, shares_);
  zone.late_other[group] = shares_.back();
  const double of_group =
      static_cast<double>(owed.error.value) / (kNormal95 * static_cast<double>(owed.energy.value));
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto part = static_cast<double>(shares_[i].value) / static_cast<double>(owed.energy.value);
    zone.late[members[i]] = shares_[i];
    zone.late_error[members[i]] = half_width(shares_[i], process_sd(of_group, part));
  }
}

void DeferredShares::forget_zones() {
  for (auto& [incarnation, group] : groups_) group.zones.clear();
}

}  // namespace keplerd
