// SPDX-License-Identifier: Apache-2.0
// Sections of keplerd.conf(5) as parameters of the libraries, which must not include lib/config.
#pragma once

#include "attribution/make_model.h"
#include "config/settings.h"
#include "energy/select_source.h"
#include "ledger/account.h"
#include "ledger/idle_workloads.h"

namespace keplerd {

inline SourceChoice source_choice(const EnergySettings& energy) {
  return {.source = energy.source,
          .zones = energy.zones,
          .idle_power = energy.idle_power,
          .max_power = energy.max_power,
          .guest_meter = energy.guest_meter};
}

inline ModelRules model_rules(const AttributionSettings& attribution) {
  ModelRules rules{.idle_power = attribution.idle_power};
  switch (attribution.split) {
    case SplitRule::kAuto:
      rules.split = ModelRules::Split::kAuto;
      break;
    case SplitRule::kUsageRatio:
      rules.split = ModelRules::Split::kUsageRatio;
      break;
    case SplitRule::kBaseline:
      rules.split = ModelRules::Split::kBaseline;
      break;
  }
  switch (attribution.share) {
    case ShareRule::kAuto:
      rules.share = ModelRules::Share::kAuto;
      break;
    case ShareRule::kCpuTime:
      rules.share = ModelRules::Share::kCpuTime;
      break;
    case ShareRule::kLearned:
      rules.share = ModelRules::Share::kLearned;
      break;
    case ShareRule::kInstructions:
      rules.share = ModelRules::Share::kInstructions;
      break;
    case ShareRule::kCycles:
      rules.share = ModelRules::Share::kCycles;
      break;
  }
  return rules;
}

inline IdlePlacing idle_placing(IdlePolicy policy) {
  switch (policy) {
    case IdlePolicy::kSeparate:
      return IdlePlacing::kSeparate;
    case IdlePolicy::kEqual:
      return IdlePlacing::kEqual;
    case IdlePolicy::kSize:
      return IdlePlacing::kSize;
    case IdlePolicy::kUsage:
      return IdlePlacing::kUsage;
  }
  return IdlePlacing::kSeparate;
}

inline TerminatedLimits terminated_limits(const WorkloadSettings& workloads) {
  return {.max = workloads.terminated_max,
          .min_energy = workloads.terminated_min_energy,
          .retention = workloads.terminated_retention,
          .vm_retention = workloads.vm_retention};
}

}  // namespace keplerd
