// SPDX-License-Identifier: Apache-2.0
// What power models have learned, to be saved.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attribution/model/power_filter.h"
#include "attribution/model/zone_power.h"
#include "attribution/platform/saved_platform.h"
#include "base/units.h"

namespace keplerd {

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
  std::string processor;  // that they are of (processor_model())
  std::vector<SavedZoneModel> zones;
  std::vector<SavedPlatform> platforms;
};

// They were saved so long ago.
void age_models(SavedModels& models, std::chrono::seconds since);

}  // namespace keplerd
