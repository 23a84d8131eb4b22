// SPDX-License-Identifier: Apache-2.0
#include "exporter/top_processes.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace keplerd::exporter {
namespace {

constexpr double kKept = 0.9;  // of what was recent at the tick before; ticks are about 5 s apart

void add_power(Energy& sum, const Energy& more) {
  if (more.power) sum.power = sum.power.value_or(Microwatts{}) + *more.power;
}

Microjoules counted_of(const WorkloadRow& row, const std::string& zone) {
  const auto found = row.zones.find(zone);
  return found == row.zones.end() ? Microjoules{} : found->second.energy;
}

// Only what is new since then. A counter that has gone back is another one's.
Microjoules increase(Microjoules now, Microjoules before) { return std::max(now - before, Microjoules{}); }

}  // namespace

void TopProcesses::take(const Rows<ProcessRow>& processes) {
  std::erase_if(known_, [&processes](const auto& known) { return !processes.contains(known.first); });
  for (const auto& [id, row] : processes) {
    const auto [known, is_new] = known_.try_emplace(id);
    // What there was before the exporter is nobody's increase.
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
  others_.all.power.reset();
  for (auto& [zone, energy] : others_.zones) energy.power.reset();
  for (const auto& [id, row] : processes) {
    Known& known = known_.find(id)->second;
    if (!known.shown || !before.contains(id)) add_to_others(row, known.counted);
    if (!known.shown) {
      add_power(others_.all, row.all);
      for (const auto& [zone, energy] : row.zones) add_power(others_.zones[zone], energy);
    }
    known.counted = row;
  }
}

void TopProcesses::add_to_others(const ProcessRow& row, const WorkloadRow& counted) {
  others_.all.energy += increase(row.all.energy, counted.all.energy);
  others_.cpu += std::max(row.cpu - counted.cpu, CpuTime{0});
  for (const auto& [zone, energy] : row.zones) {
    others_.zones[zone].energy += increase(energy.energy, counted_of(counted, zone));
  }
}

void TopProcesses::choose(const Rows<ProcessRow>& processes) {
  // Of one pid: the one that runs, else the one that ended last.
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

void TopProcesses::forget() {
  known_.clear();
  chosen_.clear();
  started_ = false;
}

}  // namespace keplerd::exporter
