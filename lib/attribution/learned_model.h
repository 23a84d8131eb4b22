// SPDX-License-Identifier: Apache-2.0
// Split=baseline and Share=learned: each zone that teaches something (learns_from()) has a power model of its
// own. Where there is none, or it has not started, Kepler's rule divides. With one of the two keys set to
// Kepler's rule, only the other one uses the models.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "attribution/model.h"
#include "attribution/model/placement.h"
#include "attribution/model/zone_power.h"
#include "attribution/model_input.h"
#include "attribution/model_rules.h"
#include "attribution/short_windows.h"
#include "attribution/usage_ratio_model.h"

namespace keplerd {

class LearnedModel final : public Model {
 public:
  // `slots`: of the filter of each zone (power_filter.h).
  explicit LearnedModel(const ModelRules& rules, std::size_t slots = kSlots);

  void begin(const UsageSample& usage, const Contenders& contenders) override;
  std::optional<Weighing> weigh(const DrawnEnergy& drawn) override;
  bool wants_processors() const override { return true; }
  RulesInForce in_force() const override;
  std::vector<ZoneModelState> states() const override;
  std::vector<SavedZoneModel> save() const override;
  void restore(std::span<const SavedZoneModel> saved) override;

 private:
  struct LearnedZone {
    LearnedZone(ZoneKind kind, std::size_t slots) : power(kind, slots) {}
    ZonePower power;
    bool is_package = false;  // counted in the total, not a part of another
    std::vector<std::size_t> cpus;
    Microwatts largest_limit;
  };
  void restore(ZonePower& power, const SavedZoneModel& saved);
  LearnedZone* find_zone(const Zone& zone);
  std::vector<LearnedPowers> powers_of_others(const LearnedZone& zone) const;
  void learn_from_short_windows();
  void fix_idle();
  Microjoules idle_of(const PowerDivision& division, const DrawnEnergy& drawn) const;
  void weigh_contenders(const PowerDivision& division, const ZoneActivity& activity);

  ModelRules rules_;
  std::size_t slots_;
  UsageRatioModel by_usage_;
  ModelInput input_;
  bool usable_ = false;      // the input of this window
  bool is_learned_ = false;  // the division of the last processor zone
  bool teaches_ = false;     // this window
  bool is_short_ = false;    // it teaches something together with others
  Nanoseconds window_{0};
  std::optional<Placement> placement_;
  std::map<std::string, LearnedZone> zones_;     // by id
  std::map<std::string, SavedZoneModel> saved_;  // of zones that have not been seen yet
  ShortWindows short_;
  ZoneActivity activity_;
  std::vector<std::int64_t> contenders_;
};

}  // namespace keplerd
