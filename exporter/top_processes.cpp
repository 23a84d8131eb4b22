// SPDX-License-Identifier: Apache-2.0
#include "exporter/top_processes.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace keplerd::exporter {
namespace {

constexpr double kKept = 0.9;  // fraction of the recent energy kept per tick; ticks are about 5 s apart

const Energy& of_zone(const EnergyByZone& energies, const std::string& zone) {
  static const Energy kNone;
  const auto found = energies.zones.find(zone);
  return found == energies.zones.end() ? kNone : found->second;
}

// The increase since then. A counter that has gone back belongs to another process.
Microjoules increase(Microjoules now, Microjoules before) { return std::max(now - before, Microjoules{}); }

}  // namespace

void TopProcesses::take(const Rows<ProcessRow>& processes) {
  std::erase_if(known_, [&processes](const auto& known) { return !processes.contains(known.first); });
  for (const auto& [id, row] : processes) {
    const auto [known, is_new] = known_.try_emplace(id);
    // Energy from before the exporter's start is not an increase.
    if (is_new && !started_) known->second.counted = row;
    known->second.recent *= kKept;
    known->second.recent +=
        static_cast<double>(increase(row.all.energy, known->second.counted.all.energy).value);
  }
  started_ = true;

  std::set<std::string_view> before;
  for (const auto& [id, known] : known_) {
    if (known.shown) before.insert(id);
  }
  choose(processes);
  for (const auto& [id, row] : processes) {
    Known& known = known_.find(id)->second;
    if (known.shown && before.contains(id)) {
      count_shown(row, known.counted);
    } else {
      others_.cpu += std::max(row.cpu - known.counted.cpu, CpuTime{0});
    }
    known.counted = row;
  }
}

void TopProcesses::count_shown(const ProcessRow& row, const WorkloadRow& counted) {
  shown_.all.energy += increase(row.all.energy, counted.all.energy);
  for (const auto& [zone, energy] : row.zones)
    shown_.zones[zone].energy += increase(energy.energy, of_zone(counted, zone).energy);
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

void TopProcesses::choose(const Rows<ProcessRow>& processes) {
  // One per pid: the running one, else the one that ended last.
  std::map<std::int64_t, const ProcessRow*> by_pid;
  for (const auto& [id, row] : processes) {
    const auto [other, is_new] = by_pid.try_emplace(row.pid, &row);
    const auto key = [](const ProcessRow& process) {
      return std::tuple(process.running, process.id.size(), std::string_view(process.id));
    };
    if (!is_new && key(row) > key(*other->second)) other->second = &row;
  }
  std::vector<std::tuple<double, std::int64_t, const ProcessRow*>> order;
  order.reserve(by_pid.size());
  for (const auto& [pid, row] : by_pid) {
    order.emplace_back(known_.find(row->id)->second.recent, row->all.energy.value, row);
  }
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(count_, order.size()));
  std::partial_sort(order.begin(), end, order.end(), [](const auto& a, const auto& b) {
    return std::tie(std::get<0>(a), std::get<1>(a), std::get<2>(b)->id) >
           std::tie(std::get<0>(b), std::get<1>(b), std::get<2>(a)->id);
  });

  for (auto& [id, known] : known_) known.shown = false;
  chosen_.clear();
  for (auto chosen = order.begin(); chosen != end; ++chosen) {
    chosen_.push_back(std::get<2>(*chosen));
    known_.find(chosen_.back()->id)->second.shown = true;
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
