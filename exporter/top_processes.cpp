// SPDX-License-Identifier: Apache-2.0
#include "exporter/top_processes.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace keplerd::exporter {
namespace {

constexpr double kKept = 0.9;  // fraction of the recent energy kept per tick; ticks are about 5 s apart

const Energy& of_zone(const EnergyByZone& energies, const std::string& zone) {
  static const Energy kNone;
  const auto found = energies.zones.find(zone);
  return found == energies.zones.end() ? kNone : found->second;
}

bool has_same_energies(const EnergyByZone& a, const EnergyByZone& b) {
  return a.all.energy == b.all.energy &&
         std::ranges::equal(a.zones, b.zones, [](const auto& x, const auto& y) {
           return x.second.energy == y.second.energy && x.first == y.first;
         });
}

// The increase since then. A counter that has gone back belongs to another process.
Microjoules increase(Microjoules now, Microjoules before) { return std::max(now - before, Microjoules{}); }

}  // namespace

// Most processes have not run since the last tick: what is done for each of them has to be little.
void TopProcesses::take(const Rows<ProcessRow>& processes) {
  auto known = known_.begin();  // both are in the order of ids
  for (const auto& [id, row] : processes) {
    while (known != known_.end() && known->first < id) known = known_.erase(known);
    const bool is_new = known == known_.end() || known->first != id;
    if (is_new) known = known_.emplace_hint(known, id, Known{});
    take(row, known->second, is_new);
    ++known;
  }
  known_.erase(known, known_.end());
  started_ = true;

  choose();
  for (auto& [id, process] : known_) count(process);
}

void TopProcesses::take(const ProcessRow& row, Known& known, bool is_new) {
  known.row = &row;
  known.was_shown = std::exchange(known.shown, false);
  // Energy from before the exporter's start is not an increase.
  if (is_new && !started_) known.counted = {row, row.cpu};
  known.recent *= kKept;
  known.recent += static_cast<double>(increase(row.all.energy, known.counted.energies.all.energy).value);
}

void TopProcesses::count(Known& known) {
  const ProcessRow& row = *known.row;
  const EnergyByZone& counted = known.counted.energies;
  if (row.cpu == known.counted.cpu && has_same_energies(row, counted)) return;
  if (known.shown && known.was_shown) {
    shown_.all.energy += increase(row.all.energy, counted.all.energy);
    for (const auto& [zone, energy] : row.zones)
      shown_.zones[zone].energy += increase(energy.energy, of_zone(counted, zone).energy);
  } else {
    others_.cpu += std::max(row.cpu - known.counted.cpu, CpuTime{0});
  }
  known.counted = {row, row.cpu};
}

void TopProcesses::balance(const EnergyByZone& active) {
  current_ = true;
  if (!base_) shown_ = {};
  const auto base_of = [](const Energy& others, const Energy& all, const Energy& shown) {
    return Energy{.energy = others.energy - all.energy + shown.energy, .power = {}};
  };
  const auto balance = [](Energy& others, const Energy& all, const Energy& base, const Energy& shown) {
    others.energy = std::max(others.energy, all.energy + base.energy - shown.energy);
    others.power = all.power;
  };
  const auto take_power = [](Energy& others, const Energy& shown) {
    if (others.power && shown.power) *others.power = std::max(*others.power - *shown.power, Microwatts{});
  };
  if (!base_) base_ = {.all = base_of(others_.all, active.all, {}), .zones = {}};
  balance(others_.all, active.all, base_->all, shown_.all);
  for (const auto& [zone, energy] : active.zones) {
    const auto base =
        base_->zones.try_emplace(zone, base_of(of_zone(others_, zone), energy, of_zone(shown_, zone))).first;
    balance(others_.zones[zone], energy, base->second, of_zone(shown_, zone));
  }
  for (const ProcessRow* row : chosen_) {
    take_power(others_.all, row->all);
    for (auto& [zone, energy] : others_.zones) take_power(energy, of_zone(*row, zone));
  }
}

void TopProcesses::choose() {
  // One per pid: the running one, else the one that ended last. Ids begin with the pid: all of one pid follow
  // each other.
  const auto key = [](const ProcessRow& process) {
    return std::tuple(process.running, process.id.size(), std::string_view(process.id));
  };
  std::vector<Known*> order;
  order.reserve(known_.size());
  for (auto& [id, known] : known_) {
    if (order.empty() || order.back()->row->pid != known.row->pid) {
      order.push_back(&known);
    } else if (key(*known.row) > key(*order.back()->row)) {
      order.back() = &known;
    }
  }
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(count_, order.size()));
  std::partial_sort(order.begin(), end, order.end(), [](const Known* a, const Known* b) {
    if (a->recent != b->recent) return a->recent > b->recent;
    const Microjoules of_a = a->row->all.energy, of_b = b->row->all.energy;
    return of_a != of_b ? of_a > of_b : a->row->id < b->row->id;
  });

  chosen_.clear();
  for (auto chosen = order.begin(); chosen != end; ++chosen) {
    chosen_.push_back((*chosen)->row);
    (*chosen)->shown = true;
  }
}

void TopProcesses::pause() {
  chosen_.clear();
  current_ = false;
}

void TopProcesses::forget() {
  pause();
  known_.clear();
  started_ = false;
  base_.reset();
}

}  // namespace keplerd::exporter
