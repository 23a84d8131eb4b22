// SPDX-License-Identifier: Apache-2.0
#include "ledger/model_state.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "ledger/state_checks.h"

namespace keplerd {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostZones = 1'000, kMostWorkloads = 1'000;

double number(const Json& json, double least) {
  constexpr double kMost = 1e12;  // above any power, square of one, or age
  const auto value = json.get<double>();
  if (!std::isfinite(value) || value < least || value > kMost) throw Malformed{"a number is out of range"};
  return value;
}

constexpr double kAny = -1e12;

template <std::size_t size>
std::array<double, size> numbers(const Json& json, double least) {
  if (!json.is_array() || json.size() != size) throw Malformed{"a list has another length"};
  std::array<double, size> values{};
  for (std::size_t i = 0; i < size; ++i) values[i] = number(json[i], least);
  return values;
}

Json to_json(const PowerFilter::Memory& filter) {
  return {{"value", filter.value}, {"variance", filter.variance},
          {"first", filter.first}, {"firstVariance", filter.first_variance},
          {"ageSec", filter.age},  {"noise", filter.relative_noise}};
}

PowerFilter::Memory to_filter(const Json& json) {
  constexpr std::size_t kSize = PowerFilter::kFirstSlot;
  return {.value = numbers<kSize>(json.at("value"), kAny),
          .variance = numbers<kSize>(json.at("variance"), 0),
          .first = numbers<kSize>(json.at("first"), kAny),
          .first_variance = numbers<kSize>(json.at("firstVariance"), 0),
          .age = number(json.at("ageSec"), 0),
          .relative_noise = number(json.at("noise"), 0)};
}

Json to_json(const Trust::Memory& trust) {
  return {{"learned", trust.learned_squared},
          {"pooled", trust.pooled_squared},
          {"lag", trust.learned_lag10},
          {"ageSec", trust.seconds},
          {"value", trust.value}};
}

Trust::Memory to_trust(const Json& json) {
  return {.learned_squared = number(json.at("learned"), 0),
          .pooled_squared = number(json.at("pooled"), 0),
          .learned_lag10 = number(json.at("lag"), kAny),
          .seconds = number(json.at("ageSec"), 0),
          .value = std::min(1.0, number(json.at("value"), 0))};
}

ZonePower::Base to_base(const Json& json) {
  return {.watts = number(json.at("idleWatts"), 0),
          .awake = number(json.at("idleAwake"), 0),
          .load = number(json.at("idleLoad"), 0),
          .windows = static_cast<std::size_t>(number(json.at("idleWindows"), 0))};
}

Json to_json(const FrequencyTrend::Memory& frequency) {
  return {{"referenceKHz", frequency.reference_khz},
          {"firstSpread", frequency.first_spread},
          {"firstFilled", frequency.first_filled},
          {"value", frequency.value},
          {"variance", frequency.variance}};
}

// Unknown in older states: it is learned again.
FrequencyTrend::Memory to_frequency(const Json& zone) {
  if (!zone.contains("frequency") || !zone.at("frequency").contains("referenceKHz")) return {};
  const Json& json = zone.at("frequency");
  constexpr std::size_t kSize = FrequencyTrend::kParameters;
  return {.reference_khz = number(json.at("referenceKHz"), 0),
          .first_spread = std::min(1.0, number(json.at("firstSpread"), 0)),
          .first_filled = std::min(1.0, number(json.at("firstFilled"), 0)),
          .value = numbers<kSize>(json.at("value"), kAny),
          .variance = numbers<kSize>(json.at("variance"), 0)};
}

Json to_json(const ZonePower::Unseen& unseen) {
  return {{"learned", unseen.learned},
          {"pooled", unseen.pooled},
          {"leastLoad", unseen.least_load},
          {"windows", unseen.windows}};
}

// Unknown in states of the first release.
ZonePower::Unseen to_unseen(const Json& zone) {
  if (!zone.contains("unseenIdle")) return {};
  const Json& json = zone.at("unseenIdle");
  return {.learned = number(json.at("learned"), kAny),
          .pooled = number(json.at("pooled"), kAny),
          .least_load = number(json.at("leastLoad"), 0),
          .windows = static_cast<std::size_t>(number(json.at("windows"), 0))};
}

Json to_json(const SavedZoneModel& zone) {
  Json workloads = Json::object();
  for (const SavedWorkload& workload : zone.workloads)
    workloads[workload.path] = {workload.deviation, workload.variance};
  return {{"zone", zone.zone},
          {"frequency", to_json(zone.memory.frequency)},
          {"learned", to_json(zone.memory.learned)},
          {"pooled", to_json(zone.memory.pooled)},
          {"trust", to_json(zone.memory.trust)},
          {"idleWatts", zone.memory.base.watts},
          {"idleAwake", zone.memory.base.awake},
          {"idleLoad", zone.memory.base.load},
          {"idleAgeSec", zone.memory.base_age},
          {"idleWindows", zone.memory.base.windows},
          {"unseenIdle", to_json(zone.memory.unseen)},
          {"workloads", std::move(workloads)}};
}

SavedZoneModel to_zone_model(const Json& json) {
  SavedZoneModel zone{.zone = json.at("zone"),
                      .memory = {.frequency = to_frequency(json),
                                 .learned = to_filter(json.at("learned")),
                                 .pooled = to_filter(json.at("pooled")),
                                 .trust = to_trust(json.at("trust")),
                                 .base = to_base(json),
                                 .base_age = number(json.at("idleAgeSec"), 0),
                                 .unseen = to_unseen(json),
                                 .workloads = {}},
                      .workloads = {}};
  const Json& workloads = json.at("workloads");
  if (!workloads.is_object() || workloads.size() > kMostWorkloads) throw Malformed{"too many workloads"};
  for (const auto& [path, learned] : workloads.items()) {
    if (!learned.is_array() || learned.size() != 2) throw Malformed{"a list has another length"};
    zone.workloads.push_back({path, number(learned[0], kAny), number(learned[1], 0)});
  }
  return zone;
}

Json to_json(const SavedPlatform& platform) {
  Json json = {{"zone", platform.zone}, {"wall", Json::array()}};
  if (platform.lag) json["lagUsec"] = to_usec(*platform.lag);
  for (const auto& [number, moments] : platform.wall)
    json["wall"].push_back(
        {number, moments.weight, moments.x, moments.y, moments.xx, moments.xy, moments.yy});
  return json;
}

std::pair<std::size_t, Moments> to_class(const Json& json) {
  const auto values = numbers<7>(json, kAny);
  const double least = std::min({values[0], values[1], values[2], values[3], values[4], values[6]});
  if (least < 0 || values[0] >= WallLine::kClasses) throw Malformed{"a number is out of range"};
  return {static_cast<std::size_t>(values[0]),
          {.weight = values[1],
           .x = values[2],
           .y = values[3],
           .xx = values[4],
           .xy = values[5],
           .yy = values[6]}};
}

SavedPlatform to_platform(const Json& json) {
  SavedPlatform platform{.zone = json.at("zone"), .lag = {}, .wall = {}};
  if (json.contains("lagUsec")) {
    platform.lag = std::chrono::duration_cast<Nanoseconds>(
        std::chrono::duration<double, std::micro>(number(json.at("lagUsec"), 0)));
  }
  const Json& wall = json.at("wall");
  if (!wall.is_array() || wall.size() > WallLine::kClasses) throw Malformed{"too many classes"};
  for (const Json& one : wall) platform.wall.push_back(to_class(one));
  return platform;
}

}  // namespace

Json models_json(const SavedModels& models) {
  Json json = {{"processor", models.processor}, {"zones", Json::array()}};
  for (const SavedZoneModel& zone : models.zones) json["zones"].push_back(to_json(zone));
  for (const SavedPlatform& platform : models.platforms) json["platforms"].push_back(to_json(platform));
  return json;
}

SavedModels read_models(const Json& json) {
  try {
    SavedModels models{.processor = json.at("processor"), .zones = {}, .platforms = {}};
    const Json& zones = json.at("zones");
    if (!zones.is_array() || zones.size() > kMostZones) throw Malformed{"too many zones"};
    for (const Json& zone : zones) models.zones.push_back(to_zone_model(zone));
    if (!json.contains("platforms")) return models;
    const Json& platforms = json.at("platforms");
    if (!platforms.is_array() || platforms.size() > kMostSavedPlatforms)
      throw Malformed{"too many platforms"};
    for (const Json& platform : platforms) models.platforms.push_back(to_platform(platform));
    return models;
  } catch (const Malformed&) {
  } catch (const nlohmann::json::exception&) {
  }
  return {};
}

}  // namespace keplerd
