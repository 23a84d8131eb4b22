// SPDX-License-Identifier: Apache-2.0
#include "energy/zone.h"

#include <algorithm>
#include <set>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/parse.h"
#include "base/text.h"

namespace keplerd {

namespace {

template <class Value>
struct Named {
  Value value;
  std::string_view name;
};

constexpr Named<Quality> kQualities[] = {{Quality::kMeasured, "measured"},
                                         {Quality::kModelled, "modelled"},
                                         {Quality::kAttributed, "attributed"},
                                         {Quality::kEstimated, "estimated"},
                                         {Quality::kSimulated, "simulated"}};

constexpr Named<Resource> kResources[] = {
    {Resource::kCpu, "cpu"}, {Resource::kDram, "dram"}, {Resource::kGpu, "gpu"}, {Resource::kNone, "none"}};

constexpr Named<Coverage> kCoverages[] = {{Coverage::kPlatform, "platform"},
                                          {Coverage::kCpu, "cpu"},
                                          {Coverage::kDram, "dram"},
                                          {Coverage::kGpu, "gpu"},
                                          {Coverage::kOther, "other"}};

template <class Value>
std::string_view name_of(Value value, std::span<const Named<Value>> all) {
  const auto named = std::ranges::find(all, value, &Named<Value>::value);
  return named == all.end() ? "unknown" : named->name;
}

template <class Value>
std::optional<Value> find_named(std::string_view name, std::span<const Named<Value>> all) {
  const auto named = std::ranges::find(all, name, &Named<Value>::name);
  return named == all.end() ? std::nullopt : std::optional(named->value);
}

}  // namespace

std::string_view quality_name(Quality quality) { return name_of<Quality>(quality, kQualities); }
std::optional<Quality> parse_quality(std::string_view name) { return find_named<Quality>(name, kQualities); }

std::string_view resource_name(Resource resource) { return name_of<Resource>(resource, kResources); }
std::optional<Resource> parse_resource(std::string_view name) {
  return find_named<Resource>(name, kResources);
}

std::string_view coverage_name(Coverage coverage) { return name_of<Coverage>(coverage, kCoverages); }
std::optional<Coverage> parse_coverage(std::string_view name) {
  return find_named<Coverage>(name, kCoverages);
}

Coverage coverage_of(const Zone& zone) {
  if (zone.covers) return *zone.covers;
  if (zone.name == "psys") return Coverage::kPlatform;
  switch (zone.resource) {
    case Resource::kCpu:
      return Coverage::kCpu;
    case Resource::kDram:
      return Coverage::kDram;
    case Resource::kGpu:
      return Coverage::kGpu;
    case Resource::kNone:
      break;
  }
  return zone.name == "platform" ? Coverage::kPlatform : Coverage::kOther;
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
