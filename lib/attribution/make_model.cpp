// SPDX-License-Identifier: Apache-2.0
#include "attribution/make_model.h"

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "attribution/device_model.h"
#include "attribution/group_count_model.h"
#include "attribution/learned_model.h"
#include "attribution/usage_ratio_model.h"

namespace keplerd {
namespace {

// Graphics cards by a model of their own, which no rule changes; all else by that of processors and memory,
// which the hardware's counts of groups correct where there are any.
class ModelOfAll final : public Model {
 public:
  ModelOfAll(std::unique_ptr<Model> processors, ModelRules::Share share)
      : processors_(std::move(processors)), share_(share), counts_(share) {}

  void begin(const UsageSample& usage, const Contenders& contenders) override {
    processors_->begin(usage, contenders);
    devices_.begin(usage, contenders);
    counts_.begin(usage, contenders);
  }
  std::optional<Weighing> weigh(const DrawnEnergy& drawn) override {
    if (drawn.zone.resource == Resource::kGpu) return devices_.weigh(drawn);
    auto weighing = processors_->weigh(drawn);
    const bool is_counted = weighing && counts_.apply(drawn, *weighing);
    if (drawn.zone.in_total && drawn.zone.resource == Resource::kCpu) is_counted_ = is_counted;
    return weighing;
  }
  bool wants_processors() const override { return processors_->wants_processors(); }
  RulesInForce in_force() const override {
    RulesInForce rules = processors_->in_force();
    if (is_counted_ && share_ == ModelRules::Share::kInstructions) rules.share = "instructions";
    if (is_counted_ && share_ == ModelRules::Share::kCycles) rules.share = "cycles";
    return rules;
  }
  std::vector<ZoneModelState> states() const override { return processors_->states(); }
  std::vector<SavedZoneModel> save() const override { return processors_->save(); }
  void restore(std::span<const SavedZoneModel> saved) override { processors_->restore(saved); }

 private:
  std::unique_ptr<Model> processors_;
  ModelRules::Share share_;
  bool is_counted_ = false;  // the last processor
  DeviceModel devices_;
  GroupCountModel counts_;
};

}  // namespace

std::unique_ptr<Model> make_model(const ModelRules& rules) {
  std::unique_ptr<Model> processors;
  if (rules.learns()) {
    processors = std::make_unique<LearnedModel>(rules);
  } else {
    processors = std::make_unique<UsageRatioModel>();
  }
  return std::make_unique<ModelOfAll>(std::move(processors), rules.share);
}

}  // namespace keplerd
