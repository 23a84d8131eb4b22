// SPDX-License-Identifier: Apache-2.0
#include "energy/zone.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/parse.h"
#include "base/text.h"

namespace keplerd {

std::string_view quality_name(Quality quality) {
  switch (quality) {
    case Quality::kMeasured:
      return "measured";
    case Quality::kModelled:
      return "modelled";
    case Quality::kAttributed:
      return "attributed";
    case Quality::kEstimated:
      return "estimated";
    case Quality::kSimulated:
      return "simulated";
  }
  return "unknown";
}

std::string zone_id(std::string_view source, std::string_view name, int index) {
  return fmt::format("{}:{}:{}", source, name, index);
}

bool is_chosen(const Zone& zone, const std::vector<std::string>& names) {
  return names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
           return equals_ignoring_case(zone.name, name);
         });
}

Result<Done> check_choice(const std::vector<Zone>& zones, const std::vector<std::string>& names) {
  const bool counts = std::any_of(zones.begin(), zones.end(),
                                  [&](const Zone& zone) { return zone.in_total && is_chosen(zone, names); });
  if (counts) return Done{};
  std::set<std::string_view> counting;
  std::set<std::string_view> others;
  for (const auto& zone : zones) (zone.in_total ? counting : others).insert(zone.name);
  if (counting.empty()) return Error{.message = "no zone that is part of the host's total (package, dram)"};
  auto message =
      fmt::format("Zones={} selects no zone that is part of the host's total; this host has {}",
                  escape_name(fmt::format("{}", fmt::join(names, " "))), fmt::join(counting, ", "));
  if (!others.empty())
    message += fmt::format(" (and {}, which are not part of the total)", fmt::join(others, ", "));
  return Error{.message = std::move(message)};
}

}  // namespace keplerd
