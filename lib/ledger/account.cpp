// SPDX-License-Identifier: Apache-2.0
#include "ledger/account.h"

#include <algorithm>
#include <cassert>

namespace keplerd {

void EnergyAccount::begin(std::uint64_t window_sequence) {
  if (sequence == window_sequence) return;
  sequence = window_sequence;
  for (ZoneEnergy& zone : zones) zone.window = {};
  window_cpu = Nanoseconds{0};
  window_error = {};
}

void EnergyAccount::add(std::uint64_t window_sequence, std::size_t zone, Microjoules energy) {
  begin(window_sequence);
  if (energy == Microjoules{}) return;
  if (zones.size() <= zone) zones.resize(zone + 1);
  zones[zone].total += energy;
  zones[zone].window += energy;
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

void EnergyAccount::add_window(std::uint64_t window_sequence, const EnergyAccount& other) {
  if (other.sequence != window_sequence) return;
  for (std::size_t zone = 0; zone < other.zones.size(); ++zone)
    add(window_sequence, zone, other.zones[zone].window);
  add_error(window_sequence, other.window_error);
  add_cpu(window_sequence, other.window_cpu);
}

void EnergyAccount::add_total(const EnergyAccount& other) {
  if (zones.size() < other.zones.size()) zones.resize(other.zones.size());
  for (std::size_t zone = 0; zone < other.zones.size(); ++zone) zones[zone].total += other.zones[zone].total;
  error += other.error;
  cpu += other.cpu;
}

Microjoules EnergyAccount::energy(const std::vector<ZoneWindow>& standings) const {
  return sum_in_total(zones, standings, &ZoneEnergy::total);
}

Microjoules EnergyAccount::window_energy(std::uint64_t window_sequence,
                                         const std::vector<ZoneWindow>& standings) const {
  if (sequence != window_sequence) return {};
  return sum_in_total(zones, standings, &ZoneEnergy::window);
}

void fill_row(const EnergyAccount& account, const RowWindow& window, std::vector<ZoneShare>& shares,
              WorkloadRow& row) {
  const std::vector<ZoneWindow>& zones = window.zones;
  row.running = !account.ended;
  row.owner = account.owner;
  row.cpu = account.cpu;
  row.since = account.since;
  row.active = account.energy(zones);
  if (window.bounds_errors) row.error = account.error;
  row.earlier = account.earlier;
  if (account.earlier) row.earlier_energy = sum_in_total(account.earlier->zones, zones);
  row.power = std::ranges::any_of(zones, &ZoneWindow::current) ? std::optional(Microwatts{}) : std::nullopt;
  assert(shares.capacity() - shares.size() >= zones.size());
  const std::size_t first = shares.size();
  for (std::size_t zone = 0; zone < zones.size(); ++zone) {
    const bool has = zone < account.zones.size();
    ZoneShare share{has ? account.zones[zone].total : Microjoules{}, std::nullopt};
    if (zones[zone].span) {
      const bool moved = has && account.sequence == window.sequence;
      share.power = mean_power(moved ? account.zones[zone].window : Microjoules{}, *zones[zone].span);
    }
    if (zones[zone].in_total && zones[zone].current) {
      if (row.power && share.power) {
        *row.power += *share.power;
      } else {
        row.power.reset();
      }
    }
    shares.push_back(share);
  }
  row.zones = std::span(shares).subspan(first, zones.size());
}

}  // namespace keplerd
