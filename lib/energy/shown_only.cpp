// SPDX-License-Identifier: Apache-2.0
#include "energy/shown_only.h"

#include "energy/gpu/graphics_cards.h"
#include "energy/platform/platform_meters.h"

namespace keplerd {

std::unique_ptr<EnergySource> open_shown_only(const HostRoot& host, const std::vector<std::string>& names) {
  std::vector<HwmonQuery> queries(kPlatformMeters.begin(), kPlatformMeters.end());
  queries.insert(queries.end(), kGraphicsCards.begin(), kGraphicsCards.end());
  auto source = open_hwmon_sensors(find_hwmon_sensors(host, queries), names);
  if (source->zones().empty()) return nullptr;
  return source;
}

}  // namespace keplerd
