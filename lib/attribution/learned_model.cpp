// SPDX-License-Identifier: Apache-2.0
#include "attribution/learned_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "attribution/model/arithmetic.h"

namespace keplerd {
namespace {

constexpr std::size_t kMostUnclear = 3;
constexpr double kWeights = 1LL << 50;  // the sum of the weights, about

double joules(Microjoules energy) { return static_cast<double>(energy.value) / 1e6; }
Microwatts microwatts(double watts) { return {std::llround(watts * 1e6)}; }

ZoneKind kind_of(const Zone& zone) {
  return zone.resource == Resource::kDram ? ZoneKind::kMemory : ZoneKind::kProcessor;
}

// Whether a zone is a package that counts in the total: how it is divided decides which rules are in force.
bool decides(const Zone& zone) { return zone.in_total && zone.resource == Resource::kCpu; }

}  // namespace

LearnedModel::LearnedModel(const ModelRules& rules, std::size_t slots) : rules_(rules), slots_(slots) {}

void LearnedModel::begin(const UsageSample& usage, const Contenders& contenders) {
  by_usage_.begin(usage, contenders);
  window_ = contenders.window;
  teaches_ = is_short_ = false;
  usable_ = input_.take(usage, contenders);
  if (!usable_) return;
  if (input_.topology_changed()) {
    placement_.emplace(input_.topology());
    short_.clear();
    for (auto& [id, zone] : zones_) {
      zone.power.loosen();
      zone.cpus.clear();
    }
  }
  if (short_.are_enough()) learn_from_short_windows();
  const CpuWindow& window = input_.window();
  is_short_ = contenders.knows_cpus && window.seconds < kShortestWindow;
  if (is_short_) {
    short_.add(window);
  } else {
    short_.clear();
    teaches_ = contenders.knows_cpus && window.seconds <= kLongestWindow;
  }
  placement_->place(window);
}

void LearnedModel::learn_from_short_windows() {
  const CpuWindow& window = short_.sum();
  placement_->place(window);
  for (const auto& [id, watts] : short_.watts()) {
    const auto zone = zones_.find(id);
    if (zone == zones_.end() || zone->second.cpus.empty()) continue;
    placement_->view(window, zone->second.cpus, activity_);
    zone->second.power.learn(window, activity_, watts, powers_of_others(zone->second));
  }
  short_.clear();
}

// The model of a zone; null if nothing can be learned from it now.
LearnedModel::LearnedZone* LearnedModel::find_zone(const Zone& zone) {
  if (!usable_ || !learns_from(zone)) return nullptr;
  const auto [entry, is_new] = zones_.try_emplace(zone.id, kind_of(zone), slots_);
  LearnedZone& found = entry->second;
  if (is_new) {
    found.largest_limit = zone.largest_limit;
    found.is_package = decides(zone);
    const auto saved = saved_.extract(zone.id);
    if (!saved.empty()) restore(found.power, saved.mapped());
  }
  if (found.largest_limit != zone.largest_limit) {
    found.power.loosen();
    found.largest_limit = zone.largest_limit;
  }
  if (found.cpus.empty()) {
    found.cpus = input_.cpus_of(zone.index);
    fix_idle();
  }
  return found.cpus.empty() ? nullptr : &found;
}

// What the models of the other packages have learned of workloads.
std::vector<LearnedPowers> LearnedModel::powers_of_others(const LearnedZone& zone) const {
  std::vector<LearnedPowers> powers;
  for (const auto& [id, other] : zones_)
    if (&other != &zone && zone.is_package && other.is_package && other.power.learned().started())
      powers.push_back(other.power.powers());
  return powers;
}

// The idle power that was configured is that of all processors; each has a part by its CPUs.
void LearnedModel::fix_idle() {
  if (!rules_.idle_power) return;
  const auto all = static_cast<double>(input_.topology().core.size());
  for (auto& [id, zone] : zones_) {
    if (zone.power.kind() != ZoneKind::kProcessor) continue;
    const double part = static_cast<double>(zone.cpus.size()) / all;
    zone.power.fix_idle(static_cast<double>(rules_.idle_power->value) / 1e6 * part);
  }
}

std::optional<Weighing> LearnedModel::weigh(const DrawnEnergy& drawn) {
  auto weighing = by_usage_.weigh(drawn);
  LearnedZone* const zone = weighing ? find_zone(drawn.zone) : nullptr;
  if (decides(drawn.zone)) is_learned_ = false;
  if (zone == nullptr) return weighing;
  const CpuWindow& window = input_.window();
  const double watts = joules(drawn.energy) / to_seconds(drawn.span);
  placement_->view(window, zone->cpus, activity_);
  // Of a longer span, it is not known who ran in all of it.
  if (drawn.span == window_) {
    if (teaches_) zone->power.learn(window, activity_, watts, powers_of_others(*zone));
    if (is_short_) short_.add_energy(drawn.zone.id, drawn.energy);
  }
  if (!zone->power.started()) return weighing;
  is_learned_ = is_learned_ || decides(drawn.zone);
  const PowerDivision& division = zone->power.divide(window, activity_, watts);
  if (rules_.split != ModelRules::Split::kUsageRatio) weighing->idle = idle_of(division, drawn);
  if (!rules_.shares_learned()) return weighing;
  weigh_contenders(division, activity_);
  weighing->contenders = contenders_;
  weighing->awake = division.awake;
  if (rules_.split == ModelRules::Split::kUsageRatio) return weighing;
  weighing->relative_sd = division.relative_sd;
  weighing->idle_relative_sd = division.idle_relative_sd;
  return weighing;
}

Microjoules LearnedModel::idle_of(const PowerDivision& division, const DrawnEnergy& drawn) const {
  const double idle = division.idle_watts * to_seconds(drawn.span) * 1e6;
  return std::clamp(Microjoules{std::llround(std::min(idle, 1e18))}, Microjoules{}, drawn.energy);
}

void LearnedModel::weigh_contenders(const PowerDivision& division, const ZoneActivity& activity) {
  contenders_.resize(division.share.size());
  for (std::size_t i = 0; i < contenders_.size(); ++i) {
    const std::int64_t weight = std::llround(division.share[i] * kWeights);
    contenders_[i] = activity.use[i] > 0 ? std::max<std::int64_t>(1, weight) : 0;
  }
}

RulesInForce LearnedModel::in_force() const {
  RulesInForce rules;
  if (is_learned_ && rules_.split != ModelRules::Split::kUsageRatio) rules.split = "baseline";
  if (is_learned_ && rules_.shares_learned()) rules.share = "learned";
  return rules;
}

std::vector<ZoneModelState> LearnedModel::states() const {
  std::vector<ZoneModelState> states;
  for (const auto& [id, zone] : zones_) {
    const ZonePower& power = zone.power;
    if (zone.cpus.empty()) continue;
    ZoneModelState::Figures figures{.idle = microwatts(power.idle_watts()),
                                    .idle_error = microwatts(kNormal95 * power.idle_deviation()),
                                    .awake = microwatts(power.learned().value(PowerFilter::kAwake)),
                                    .per_core = microwatts(power.learned().value(PowerFilter::kPerCpu)),
                                    .gate = power.trust(),
                                    .unclear = {}};
    for (const auto& [workload, share, relative_sd] : power.unclear()) {
      const std::string_view path = input_.keys().path_of(workload);
      if (!path.empty()) figures.unclear.push_back({std::string(path), relative_sd});
      if (figures.unclear.size() == kMostUnclear) break;
    }
    states.push_back({.zone = id, .knowledge = power.idle_knowledge(), .figures = std::move(figures)});
  }
  return states;
}

std::vector<SavedZoneModel> LearnedModel::save() const {
  std::vector<SavedZoneModel> models;
  for (const auto& [id, zone] : zones_) {
    auto memory = zone.power.memory();
    if (!memory) continue;
    SavedZoneModel& model = models.emplace_back(SavedZoneModel{.zone = id, .memory = {}, .workloads = {}});
    for (const WorkloadMemory& workload : memory->workloads) {
      const std::string_view path = input_.keys().path_of(workload.workload);
      if (!path.empty())
        model.workloads.push_back({std::string(path), workload.deviation, workload.variance});
    }
    memory->workloads.clear();
    model.memory = *std::move(memory);
  }
  for (const auto& [id, saved] : saved_) models.push_back(saved);
  return models;
}

void LearnedModel::restore(std::span<const SavedZoneModel> saved) {
  for (const SavedZoneModel& model : saved) saved_.insert_or_assign(model.zone, model);
}

void LearnedModel::restore(ZonePower& power, const SavedZoneModel& saved) {
  ZonePower::Memory memory = saved.memory;
  for (const SavedWorkload& workload : saved.workloads)
    memory.workloads.push_back({input_.keys().key_of(workload.path), workload.deviation, workload.variance});
  power.restore(memory);
}

}  // namespace keplerd
