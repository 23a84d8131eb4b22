// SPDX-License-Identifier: Apache-2.0
#include "attribution/platform/platform_choice.h"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace keplerd {
namespace {

int rank(const Zone& zone) {
  if (is_psys(zone)) return 3;
  if (zone.id.starts_with("battery:")) return 2;
  return zone.id.starts_with("acpi:") ? 1 : 0;
}

// A card has zones for what is inside it, too.
bool is_card(const Zone& zone) {
  return coverage_of(zone) == Coverage::kGpu && zone.name != "gpu-package" && zone.name != "gpu-memory";
}

}  // namespace

bool is_psys(const Zone& zone) { return zone.name == "psys" && !zone.covers; }

std::vector<std::size_t> platform_zones(std::span<const Zone> zones) {
  const bool several_psys = std::ranges::count_if(zones, is_psys) > 1;
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < zones.size(); ++i) {
    if (zones[i].in_total || coverage_of(zones[i]) != Coverage::kPlatform) continue;
    if (!is_psys(zones[i]) || !several_psys) found.push_back(i);
  }
  std::ranges::stable_sort(found, {},
                           [&](std::size_t i) { return std::tuple(rank(zones[i]), zones[i].quality); });
  return found;
}

std::vector<std::size_t> platform_parts(std::span<const Zone> zones) {
  std::vector<std::size_t> parts;
  bool metered = false;
  for (std::size_t i = 0; i < zones.size(); ++i) {
    const Zone& zone = zones[i];
    if (zone.in_total && zone.quality > Quality::kModelled) return {};
    metered = metered || zone.in_total;
    if (zone.in_total || is_card(zone)) parts.push_back(i);
  }
  return metered ? parts : std::vector<std::size_t>{};
}

}  // namespace keplerd
