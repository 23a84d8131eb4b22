// SPDX-License-Identifier: Apache-2.0
#include "meters/redfish/documents.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace keplerd::redfish {
namespace {

using Json = nlohmann::json;

constexpr int kDeepest = 32;
constexpr std::size_t kLongestPath = 256, kLongestId = 64, kMostMembers = 1024, kMostSystems = 16;
constexpr double kMicro = 1e6, kLargestWatts = 1e9;

// An object; null if the text is something else. What lies deeper is left out.
Json parse_object(std::string_view text) {
  const auto is_wanted = [](int depth, Json::parse_event_t, Json&) { return depth <= kDeepest; };
  Json document = Json::parse(text, is_wanted, false);
  return document.is_object() ? document : Json();
}

Error no_document(std::string_view what) {
  return {.message = fmt::format("the service's {} is not a complete JSON object", what)};
}

// Null if there is no such member.
const Json& member(const Json& object, const char* name) {
  static const Json kNone;
  if (!object.is_object()) return kNone;
  const auto found = object.find(name);
  return found == object.end() ? kNone : *found;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get_ref<const std::string&>() : std::string();
}

std::optional<std::string> path_in(const Json& value) {
  std::string path = text_of(value);
  return is_document_path(path) ? std::optional(std::move(path)) : std::nullopt;
}

// {"@odata.id": "/redfish/v1/..."}
std::optional<std::string> link(const Json& object, const char* name) {
  return path_in(member(member(object, name), "@odata.id"));
}

std::vector<std::string> links(const Json& array, std::size_t most) {
  std::vector<std::string> paths;
  if (!array.is_array()) return paths;
  for (const Json& one : array) {
    if (paths.size() >= most) break;
    if (auto path = path_in(member(one, "@odata.id"))) paths.push_back(*std::move(path));
  }
  return paths;
}

Result<Power> watts_in(const Json& value, std::string_view name) {
  if (value.is_null()) return Power();
  if (!value.is_number()) return Error{.message = fmt::format("{} is not a number", name)};
  const auto watts = value.get<double>();
  if (!std::isfinite(watts) || watts < 0 || watts > kLargestWatts)
    return Error{.message = fmt::format("{} is {} (expected watts)", name, watts)};
  return Power(Microwatts{std::llround(watts * kMicro)});
}

// "Reading" of a sensor, or of a copy of it in another document.
Result<Power> reading_in(const Json& sensor, std::string_view name) {
  return watts_in(member(sensor, "Reading"), name);
}

// Of PowerControl: not that of the processors, the memory or a graphics card.
bool is_of_chassis(const Json& control) {
  constexpr std::array<std::string_view, 7> kParts = {"CPU", "CPUSubsystem", "Memory",     "MemorySubsystem",
                                                      "GPU", "GPUSubsystem", "Accelerator"};
  return std::ranges::count(kParts, text_of(member(control, "PhysicalContext"))) == 0;
}

}  // namespace

bool is_document_path(std::string_view path) {
  const auto is_ordinary = [](char c) {
    constexpr std::string_view kOthers = "/-_.~%()'=$?&,:@+";
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kOthers.find(c) != kOthers.npos;
  };
  return path.size() <= kLongestPath && path.starts_with("/redfish/") && path.find("..") == path.npos &&
         path.find("//") == path.npos && std::ranges::all_of(path, is_ordinary);
}

Result<std::string> chassis_of_service(std::string_view service_root) {
  const Json root = parse_object(service_root);
  if (root.is_null()) return no_document("root document");
  auto path = link(root, "Chassis");
  if (!path) return Error{.message = "the service has no chassis"};
  return *std::move(path);
}

Result<Page> parse_page(std::string_view collection) {
  const Json document = parse_object(collection);
  const Json& members = member(document, "Members");
  if (!members.is_array()) return no_document("collection");
  return Page{links(members, kMostMembers), path_in(member(document, "Members@odata.nextLink"))};
}

Result<Chassis> parse_chassis(std::string_view text) {
  const Json document = parse_object(text);
  auto path = path_in(member(document, "@odata.id"));
  if (!path) return no_document("chassis");
  const Json& around = member(document, "Links");
  return Chassis{.path = *std::move(path),
                 .id = escape_name(text_of(member(document, "Id")).substr(0, kLongestId)),
                 .type = text_of(member(document, "ChassisType")),
                 .inside = link(around, "ContainedBy"),
                 .environment = link(document, "EnvironmentMetrics"),
                 .power = link(document, "Power"),
                 .sensors = link(document, "Sensors"),
                 .power_subsystem = link(document, "PowerSubsystem"),
                 .systems = links(member(around, "ComputerSystems"), kMostSystems)};
}

Result<Power> environment_power(std::string_view text) {
  const Json document = parse_object(text);
  if (document.is_null()) return no_document("environment metrics");
  return reading_in(member(document, "PowerWatts"), "PowerWatts");
}

Result<Power> control_power(std::string_view text) {
  const Json document = parse_object(text);
  if (document.is_null()) return no_document("power document");
  const Json& controls = member(document, "PowerControl");
  if (!controls.is_array()) return Power();
  for (const Json& control : controls) {
    const Json& value = member(control, "PowerConsumedWatts");
    if (!value.is_null() && is_of_chassis(control)) return watts_in(value, "PowerConsumedWatts");
  }
  return Power();
}

Result<Power> sensor_power(std::string_view text) {
  const Json document = parse_object(text);
  if (document.is_null()) return no_document("sensor");
  const std::string type = text_of(member(document, "ReadingType"));
  const std::string units = text_of(member(document, "ReadingUnits"));
  if (type != "Power" || (!units.empty() && units != "W")) return Power();
  return reading_in(document, "the reading of the sensor");
}

Result<Power> supply_power(std::string_view text) {
  const Json document = parse_object(text);
  if (document.is_null()) return no_document("power supply metrics");
  return reading_in(member(document, "InputPowerWatts"), "InputPowerWatts");
}

Result<std::optional<std::string>> supplies_of(std::string_view power_subsystem) {
  const Json document = parse_object(power_subsystem);
  if (document.is_null()) return no_document("power subsystem");
  return link(document, "PowerSupplies");
}

Result<std::optional<std::string>> metrics_of(std::string_view power_supply) {
  const Json document = parse_object(power_supply);
  if (document.is_null()) return no_document("power supply");
  return link(document, "Metrics");
}

}  // namespace keplerd::redfish
