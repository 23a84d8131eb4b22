// SPDX-License-Identifier: Apache-2.0
#include "attribution/zone_model.h"

namespace keplerd {
namespace {

constexpr std::chrono::hours kForgotten(30 * 24);  // what single workloads draw

}  // namespace

void age_models(SavedModels& models, std::chrono::seconds since) {
  if (since <= std::chrono::seconds::zero()) return;
  for (SavedZoneModel& zone : models.zones) {
    zone.memory.base_age += static_cast<double>(since.count());
    if (since > kForgotten) zone.workloads.clear();
  }
}

}  // namespace keplerd
