// SPDX-License-Identifier: Apache-2.0
#include "ledger/account.h"

#include <algorithm>
#include <cassert>

namespace keplerd {

void EnergyAccount::begin(std::uint64_t window_sequence) {
  if (sequence == window_sequence) return;
  sequence = window_sequence;
  std::ranges::fill(window, Microjoules{});
  window_cpu = Nanoseconds{0};
}

void EnergyAccount::add(std::uint64_t window_sequence, std::size_t zone, Microjoules energy) {
  begin(window_sequence);
  if (energy == Microjoules{}) return;
  if (total.size() <= zone) {
    total.resize(zone + 1);
    window.resize(zone + 1);
  }
  total[zone] += energy;
  window[zone] += energy;
}

void EnergyAccount::add_cpu(std::uint64_t window_sequence, Nanoseconds time) {
  begin(window_sequence);
  cpu += time;
  window_cpu += time;
}

void EnergyAccount::add_window(std::uint64_t window_sequence, const EnergyAccount& other) {
  if (other.sequence != window_sequence) return;
  for (std::size_t zone = 0; zone < other.window.size(); ++zone) {
    add(window_sequence, zone, other.window[zone]);
  }
  add_cpu(window_sequence, other.window_cpu);
}

void EnergyAccount::add_total(const EnergyAccount& other) {
  if (total.size() < other.total.size()) {
    total.resize(other.total.size());
    window.resize(other.total.size());
  }
  for (std::size_t zone = 0; zone < other.total.size(); ++zone) total[zone] += other.total[zone];
  cpu += other.cpu;
}

Microjoules EnergyAccount::energy(const std::vector<ZoneWindow>& zones) const {
  Microjoules sum;
  for (std::size_t zone = 0; zone < total.size(); ++zone) {
    if (zones[zone].in_total) sum += total[zone];
  }
  return sum;
}

Microjoules EnergyAccount::window_energy(std::uint64_t window_sequence,
                                         const std::vector<ZoneWindow>& zones) const {
  Microjoules sum;
  if (sequence != window_sequence) return sum;
  for (std::size_t zone = 0; zone < window.size(); ++zone) {
    if (zones[zone].in_total) sum += window[zone];
  }
  return sum;
}

void fill_row(const EnergyAccount& account, std::uint64_t sequence, const std::vector<ZoneWindow>& zones,
              std::vector<ZoneShare>& shares, WorkloadRow& row) {
  row.running = !account.ended;
  row.cpu = account.cpu;
  row.since = account.since;
  row.active = account.energy(zones);
  row.power = std::ranges::any_of(zones, &ZoneWindow::current) ? std::optional(Microwatts{}) : std::nullopt;
  assert(shares.capacity() - shares.size() >= zones.size());
  const std::size_t first = shares.size();
  for (std::size_t zone = 0; zone < zones.size(); ++zone) {
    const bool has = zone < account.total.size();
    ZoneShare share{has ? account.total[zone] : Microjoules{}, std::nullopt};
    if (zones[zone].span) {
      const bool moved = has && account.sequence == sequence;
      share.power = mean_power(moved ? account.window[zone] : Microjoules{}, *zones[zone].span);
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
