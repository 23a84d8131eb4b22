// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform_report.h"

#include <algorithm>

#include "ledger/ledger.h"

namespace keplerd {
namespace {

ZoneRow* find_zone(Report& report, std::string_view id) {
  const auto row = std::ranges::find(report.zones, id, [](const ZoneRow& one) { return one.zone.id; });
  return row == report.zones.end() ? nullptr : &*row;
}

std::optional<Microjoules> earlier_of(const ZoneRow& row) {
  return row.earlier ? std::optional(row.earlier->energy) : std::nullopt;
}

}  // namespace

void report_platform(const PlatformFacts& facts, Report& report) {
  for (std::size_t i = 0; i < facts.zones.size(); ++i) {
    ZoneRow* const row = facts.ages[i] ? find_zone(report, facts.zones[i].id) : nullptr;
    if (row != nullptr) row->age = facts.ages[i]->age;
  }
  if (!facts.state) return;
  const PlatformState& state = *facts.state;
  ZoneRow* const meter = find_zone(report, facts.zones[state.zone].id);
  if (meter == nullptr) return;
  meter->lag = state.lag;
  PlatformReport& platform = report.platform.emplace();
  platform.id = meter->zone.id;
  platform.name = meter->zone.name;
  platform.quality = meter->zone.quality;
  platform.energy = meter->energy;
  platform.power = state.power;
  platform.age = meter->age;
  platform.lag = state.lag;
  platform.earlier = earlier_of(*meter);
  platform.contradiction = state.contradiction;
  if (state.wall) report.wall = WallReport{*state.wall, state.wall_power};
  ZoneRow* const rest = state.knows_rest ? find_zone(report, kRestZone) : nullptr;
  if (rest == nullptr) return;
  platform.rest = rest->energy;
  platform.rest_power = state.rest_power;
  platform.rest_error = state.rest_error;
  platform.earlier_rest = earlier_of(*rest);
  // That of its counter, which is never negative.
  if (state.rest_power) rest->power = rest->active_power = std::max(*state.rest_power, Microwatts{});
}

}  // namespace keplerd
