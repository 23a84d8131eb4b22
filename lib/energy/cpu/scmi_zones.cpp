// SPDX-License-Identifier: Apache-2.0
#include "energy/cpu/scmi_zones.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/text.h"

namespace keplerd {
namespace {

constexpr std::string_view kSource = "powercap";

Zone make_zone(const std::string& name, int index, bool processor, bool inside) {
  return {.id = zone_id(kSource, name, index),
          .name = name,
          .index = index,
          .quality = Quality::kModelled,
          .in_total = processor,
          .begins_anew = true,
          .resource = processor || inside ? Resource::kCpu : Resource::kNone};
}

}  // namespace

bool is_scmi_zone(std::string_view directory) {
  const auto type = powercap_control_type(directory);
  return type.size() < directory.size() && type == "arm-scmi";
}

bool names_processor(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? char(c | 0x20) : c; });
  constexpr std::array<std::string_view, 5> kWords = {"cpu", "soc", "pkg", "package", "cluster"};
  return std::ranges::any_of(kWords, [&](std::string_view word) { return lower.find(word) != lower.npos; });
}

std::vector<PowercapZone> scmi_zones(const std::vector<PowercapDirectory>& directories) {
  std::map<std::string_view, const PowercapDirectory*> by_name;  // parents come before their children
  for (const auto& directory : directories) {
    if (is_scmi_zone(directory.name) && !directory.zone.empty()) by_name.emplace(directory.name, &directory);
  }
  std::set<std::string_view> processors;  // directories of processors, and everything inside them
  std::map<std::string, int> next;        // index by name
  std::set<std::string> taken;
  std::vector<PowercapZone> zones;
  for (const auto& [name, directory] : by_name) {
    const bool inside = processors.contains(powercap_parent(name));
    const bool processor = !inside && names_processor(directory->zone);
    if (inside || processor) processors.insert(name);
    const std::string zone = processor ? "package" : escape_name(directory->zone);
    auto made = make_zone(zone, next[zone]++, processor, inside);
    if (!taken.insert(made.id).second) continue;
    zones.push_back({.zone = std::move(made), .directory = directory->name, .counts_power = true});
  }
  std::ranges::stable_sort(zones, [](const PowercapZone& a, const PowercapZone& b) {
    return std::tuple(!a.zone.in_total, std::string_view(a.zone.name), a.zone.index) <
           std::tuple(!b.zone.in_total, std::string_view(b.zone.name), b.zone.index);
  });
  return zones;
}

}  // namespace keplerd
