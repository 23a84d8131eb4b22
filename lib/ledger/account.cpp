// SPDX-License-Identifier: Apache-2.0
#include "ledger/account.h"

#include <algorithm>
#include <cassert>

namespace keplerd {

void EnergyAccount::begin(std::uint64_t window_sequence) {
  if (sequence == window_sequence) return;
  sequence = window_sequence;
  for (ZoneEnergy& zone : zones) zone.window = zone.window_idle = zone.window_late = {};
  window_cpu = Nanoseconds{0};
  window_error = {};
}

void EnergyAccount::add(std::uint64_t window_sequence, std::size_t zone, Microjoules active) {
  begin(window_sequence);
  if (active == Microjoules{}) return;
  if (zones.size() <= zone) zones.resize(zone + 1);
  zones[zone].total += active;
  zones[zone].window += active;
}

void EnergyAccount::add_late(std::uint64_t window_sequence, std::size_t zone, Microjoules active) {
  begin(window_sequence);
  if (active == Microjoules{}) return;
  if (zones.size() <= zone) zones.resize(zone + 1);
  zones[zone].total += active;
  zones[zone].window_late += active;
}

void EnergyAccount::add_idle(std::uint64_t window_sequence, std::size_t zone, Microjoules idle) {
  add(window_sequence, zone, idle);
  if (idle == Microjoules{}) return;
  zones[zone].idle += idle;
  zones[zone].window_idle += idle;
}

void EnergyAccount::set_counted(std::uint64_t window_sequence, std::size_t zone) {
  if (sequence == window_sequence && zone < zones.size()) zones[zone].counted = window_sequence;
}

void EnergyAccount::add_error(std::uint64_t window_sequence, Microjoules of_window) {
  begin(window_sequence);
  error += of_window;
  window_error += of_window;
}

void EnergyAccount::add_cpu(std::uint64_t window_sequence, Nanoseconds time) {
  begin(window_sequence);
  cpu += time;
  window_cpu += time;
}

bool EnergyAccount::is_counted_or_nothing(std::uint64_t window_sequence, std::size_t zone) const {
  return sequence != window_sequence || zones.size() <= zone || zones[zone].window == Microjoules{} ||
         zones[zone].counted == window_sequence;
}

void EnergyAccount::add_window(std::uint64_t window_sequence, const EnergyAccount& other) {
  if (other.sequence != window_sequence) return;
  for (std::size_t zone = 0; zone < other.zones.size(); ++zone) {
    const ZoneEnergy& energy = other.zones[zone];
    const bool was_counted = is_counted_or_nothing(window_sequence, zone);
    add(window_sequence, zone, energy.window - energy.window_idle);
    add_idle(window_sequence, zone, energy.window_idle);
    add_late(window_sequence, zone, energy.window_late);
    if (energy.window == Microjoules{}) continue;
    zones[zone].counted = was_counted && energy.counted == window_sequence ? window_sequence : 0;
  }
  add_error(window_sequence, other.window_error);
  add_cpu(window_sequence, other.window_cpu);
}

void EnergyAccount::add_total(const EnergyAccount& other) {
  if (zones.size() < other.zones.size()) zones.resize(other.zones.size());
  for (std::size_t zone = 0; zone < other.zones.size(); ++zone) {
    zones[zone].total += other.zones[zone].total;
    zones[zone].idle += other.zones[zone].idle;
  }
  error += other.error;
  cpu += other.cpu;
}

Microjoules EnergyAccount::energy(const std::vector<ZoneWindow>& standings) const {
  return sum_in_total(zones, standings, &ZoneEnergy::total);
}

Microjoules EnergyAccount::idle(const std::vector<ZoneWindow>& standings) const {
  return sum_in_total(zones, standings, &ZoneEnergy::idle);
}

Microjoules EnergyAccount::window_energy(std::uint64_t window_sequence,
                                         const std::vector<ZoneWindow>& standings) const {
  if (sequence != window_sequence) return {};
  return sum_in_total(zones, standings, &ZoneEnergy::window);
}

Microjoules EnergyAccount::window_active(std::uint64_t window_sequence,
                                         const std::vector<ZoneWindow>& standings) const {
  if (sequence != window_sequence) return {};
  return sum_in_total(zones, standings,
                      [](const ZoneEnergy& zone) { return zone.window - zone.window_idle; });
}

Microjoules EnergyAccount::window_late(std::uint64_t window_sequence,
                                       const std::vector<ZoneWindow>& standings) const {
  if (sequence != window_sequence) return {};
  return sum_in_total(zones, standings, &ZoneEnergy::window_late);
}

std::vector<EnergyAccount::ZoneEnergy> restored_zones(const std::vector<Microjoules>& energy,
                                                      const std::vector<Microjoules>& idle) {
  std::vector<EnergyAccount::ZoneEnergy> zones;
  zones.reserve(energy.size());
  for (std::size_t zone = 0; zone < energy.size(); ++zone) {
    zones.push_back({.total = energy[zone],
                     .window = {},
                     .idle = zone < idle.size() ? idle[zone] : Microjoules{},
                     .window_idle = {},
                     .window_late = {},
                     .counted = 0});
  }
  return zones;
}

namespace {

ZoneShare share_of(const EnergyAccount& account, std::size_t zone, const RowWindow& window) {
  const auto& span = window.zones[zone].span;
  const bool has = zone < account.zones.size();
  const bool moved = has && account.sequence == window.sequence;
  ZoneShare share;
  if (has) share.energy = account.zones[zone].total;
  share.is_counted = moved && account.zones[zone].counted == window.sequence;
  if (span) share.power = mean_power(moved ? account.zones[zone].window : Microjoules{}, *span);
  if (!has || account.zones[zone].idle == Microjoules{}) return share;
  share.idle = account.zones[zone].idle;
  if (span) share.idle_power = mean_power(moved ? account.zones[zone].window_idle : Microjoules{}, *span);
  return share;
}

void fill_earlier(const EnergyAccount& account, const std::vector<ZoneWindow>& zones, WorkloadRow& row) {
  row.earlier = account.earlier;
  if (!account.earlier) return;
  row.earlier_energy = sum_in_total(account.earlier->zones, zones);
  const Microjoules idle = sum_in_total(account.earlier->idle, zones);
  if (idle != Microjoules{}) row.earlier_idle = idle;
}

// Of the zones of the total; power is that of the present ones, and unknown if one of them is.
void fill_sums(const RowWindow& window, WorkloadRow& row) {
  const std::vector<ZoneWindow>& zones = window.zones;
  Microjoules energy, idle;
  Microwatts power, idle_power;
  bool is_metered = false, is_known = true;
  for (std::size_t zone = 0; zone < zones.size(); ++zone) {
    if (zones[zone].current) is_metered = true;
    if (!zones[zone].in_total) continue;
    const ZoneShare& share = row.zones[zone];
    energy += share.energy;
    idle += share.idle;
    if (!zones[zone].current) continue;
    if (!share.power) is_known = false;
    power += share.power.value_or(Microwatts{});
    idle_power += share.idle_power.value_or(Microwatts{});
  }
  row.active = energy - idle;
  row.idle = idle;
  if (!is_metered || !is_known) return;
  row.power = power;
  if (idle != Microjoules{}) row.idle_power = idle_power;
}

}  // namespace

void fill_row(const EnergyAccount& account, const RowWindow& window, std::vector<ZoneShare>& shares,
              WorkloadRow& row) {
  const std::vector<ZoneWindow>& zones = window.zones;
  row.running = !account.ended;
  row.owner = account.owner;
  row.cpu = account.cpu;
  row.since = account.since;
  if (window.bounds_errors) row.error = account.error;
  fill_earlier(account, zones, row);
  assert(shares.capacity() - shares.size() >= zones.size());
  const std::size_t first = shares.size();
  for (std::size_t zone = 0; zone < zones.size(); ++zone) shares.push_back(share_of(account, zone, window));
  row.zones = std::span(shares).subspan(first, zones.size());
  fill_sums(window, row);
}

}  // namespace keplerd
