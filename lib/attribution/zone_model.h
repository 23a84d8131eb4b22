// SPDX-License-Identifier: Apache-2.0
// The power model of a zone as others see it: what it has learned, in numbers to show, and to save.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attribution/model/power_filter.h"
#include "attribution/model/zone_power.h"
#include "base/units.h"

namespace keplerd {

// The rules that divided the last window, as [Attribution] names them.
struct RulesInForce {
  std::string_view split = "usage-ratio";
  std::string_view share = "cpu-time";
  bool operator==(const RulesInForce&) const = default;
};

struct ZoneModelState {
  std::string zone;  // id
  IdleKnowledge knowledge = IdleKnowledge::kLearning;
  struct Figures {
    Microwatts idle;        // what the zone draws if nothing runs
    Microwatts idle_error;  // half the width of its 95 % interval
    Microwatts awake;       // what it draws in addition while any CPU is busy
    Microwatts per_core;    // and for each busy CPU that has its core to itself
    double gate = 0;        // how much of what was learned of single workloads is used: 0 none, 1 all
    bool operator==(const Figures&) const = default;
  };
  std::optional<Figures> figures;  // unset: not for the caller
  bool operator==(const ZoneModelState&) const = default;
};

struct SavedWorkload {
  std::string path;  // of its topmost cgroup
  double deviation = 0, variance = 0;
};

struct SavedZoneModel {
  std::string zone;          // id
  ZonePower::Memory memory;  // without workloads: keys end with the run
  std::vector<SavedWorkload> workloads;
};

struct SavedModels {
  std::string processor;  // that they are of (Processor::model)
  std::vector<SavedZoneModel> zones;
};

// They were saved so long ago.
void age_models(SavedModels& models, std::chrono::seconds since);

}  // namespace keplerd
