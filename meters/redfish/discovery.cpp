// SPDX-License-Identifier: Apache-2.0
#include "meters/redfish/discovery.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace keplerd::redfish {
namespace {

// Of all documents that one search may read: a service with more is not that of a computer.
constexpr int kMostDocuments = 500;
constexpr std::size_t kMostChassis = 64, kMostSupplies = 64, kMostSensors = 16;
constexpr int kMostPages = 16;

// Parts of a computer, and what contains several.
constexpr std::array<std::string_view, 13> kOtherTypes = {
    "Card", "Cartridge",  "Component", "HeatExchanger", "ImmersionTank", "IPBasedDrive", "Module",
    "Pod",  "PowerStrip", "Rack",      "RackGroup",     "Row",           "Zone"};

// Services are not consistent about the slash at the end.
std::string bare(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  return path;
}

bool is_missing(const Error& error) { return error.code == ENOENT; }

class Search {
 public:
  explicit Search(const Fetch& fetch) : fetch_(fetch) {}

  Result<std::vector<Chassis>> all_chassis() {
    const auto root = document(kServiceRoot);
    if (!root) return root.error();
    const auto collection = chassis_of_service(*root);
    if (!collection) return collection.error();
    const auto paths = members(*collection, kMostChassis);
    if (!paths) return paths.error();
    std::vector<Chassis> all;
    std::set<std::string> seen;
    for (const std::string& path : *paths) {
      if (!seen.insert(bare(path)).second) continue;
      const auto text = document(path);
      if (!text) return text.error();
      auto chassis = parse_chassis(*text);
      if (!chassis) return chassis.error();
      chassis->path = bare(path);  // by which the others refer to it
      if (chassis->inside) chassis->inside = bare(*chassis->inside);
      all.push_back(*std::move(chassis));
    }
    return all;
  }

  // Where the power of a chassis can be read now; unset: nowhere.
  Result<std::optional<PowerSource>> source_of(const Chassis& chassis) {
    using Find = Result<std::optional<PowerSource>> (Search::*)(const Chassis&);
    for (const Find find :
         {&Search::in_environment, &Search::in_control, &Search::in_sensors, &Search::in_supplies}) {
      auto source = (this->*find)(chassis);
      if (!source && is_missing(source.error())) continue;
      if (!source || *source) return source;
    }
    return std::optional<PowerSource>();
  }

 private:
  Result<std::string> document(const std::string& path) {
    if (++documents_ > kMostDocuments) return Error{.message = "the service has too many documents"};
    return fetch_(path);
  }

  Result<std::vector<std::string>> members(const std::string& collection, std::size_t most) {
    std::vector<std::string> paths;
    std::optional<std::string> next = collection;
    for (int pages = 0; next && pages < kMostPages; ++pages) {
      const auto text = document(*next);
      if (!text) return text.error();
      auto page = parse_page(*text);
      if (!page) return page.error();
      std::ranges::move(page->members, std::back_inserter(paths));
      next = std::move(page->next);
    }
    if (paths.size() > most)
      return Error{.message = fmt::format("{} has more than {} members", collection, most)};
    return paths;
  }

  // `source`, if it has a value now.
  Result<std::optional<PowerSource>> tried(PowerSource source) {
    const auto power = read_power([this](const std::string& path) { return document(path); }, source);
    if (!power) return power.error();
    return *power ? std::optional(std::move(source)) : std::nullopt;
  }

  Result<std::optional<PowerSource>> in_environment(const Chassis& chassis) {
    if (!chassis.environment) return std::optional<PowerSource>();
    return tried({PowerKind::kEnvironment, {*chassis.environment}});
  }

  Result<std::optional<PowerSource>> in_control(const Chassis& chassis) {
    if (!chassis.power) return std::optional<PowerSource>();
    return tried({PowerKind::kControl, {*chassis.power}});
  }

  // There may be hundreds of sensors, and nothing but their names says which is that of the chassis.
  static bool may_be_total(std::string path) {
    std::ranges::transform(path, path.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    const std::string name = path.substr(path.rfind('/') + 1);
    return name.find("power") != name.npos && name.find("total") != name.npos;
  }

  Result<std::optional<PowerSource>> in_sensors(const Chassis& chassis) {
    if (!chassis.sensors) return std::optional<PowerSource>();
    auto paths = members(*chassis.sensors, SIZE_MAX);
    if (!paths) return paths.error();
    std::erase_if(*paths, [](const std::string& path) { return !may_be_total(path); });
    if (paths->size() > kMostSensors) paths->resize(kMostSensors);
    for (std::string& path : *paths) {
      auto source = tried({PowerKind::kSensor, {std::move(path)}});
      if (!source && is_missing(source.error())) continue;
      if (!source || *source) return source;
    }
    return std::optional<PowerSource>();
  }

  Result<std::optional<PowerSource>> in_supplies(const Chassis& chassis) {
    if (!chassis.power_subsystem) return std::optional<PowerSource>();
    const auto subsystem = document(*chassis.power_subsystem);
    if (!subsystem) return subsystem.error();
    const auto collection = supplies_of(*subsystem);
    if (!collection) return collection.error();
    if (!*collection) return std::optional<PowerSource>();
    const auto supplies = members(**collection, kMostSupplies);
    if (!supplies) return supplies.error();
    PowerSource source{PowerKind::kSupplies, {}};
    for (const std::string& path : *supplies) {
      const auto supply = document(path);
      if (!supply) return supply.error();
      auto metrics = metrics_of(*supply);
      if (!metrics) return metrics.error();
      // Without that of one, the sum would be too small.
      if (!*metrics) return std::optional<PowerSource>();
      source.paths.push_back(**std::move(metrics));
    }
    if (source.paths.empty()) return std::optional<PowerSource>();
    return tried(std::move(source));
  }

  const Fetch& fetch_;
  int documents_ = 0;
};

bool is_of_other_type(const Chassis& chassis) { return std::ranges::count(kOtherTypes, chassis.type) > 0; }

Result<std::vector<Chassis>> choose(std::vector<Chassis> all, const std::vector<std::string>& chosen) {
  std::vector<std::string> ids;
  for (const Chassis& chassis : all) ids.push_back(chassis.id);
  for (const std::string& id : chosen) {
    if (std::ranges::count(ids, id) != 1)
      return Error{.message =
                       fmt::format("the service has no chassis '{}' (it has: {})", id, fmt::join(ids, ", "))};
  }
  std::erase_if(all, [&](const Chassis& chassis) {
    return chosen.empty() ? is_of_other_type(chassis) : std::ranges::count(chosen, chassis.id) == 0;
  });
  return all;
}

// Whether one of `outer` is around `chassis`, at any distance.
bool is_inside(const Chassis& chassis, const std::vector<Chassis>& all, const std::set<std::string>& outer) {
  std::optional<std::string> around = chassis.inside;
  for (std::size_t depth = 0; around && depth < all.size(); ++depth) {
    if (outer.contains(*around)) return true;
    const auto next = std::ranges::find(all, *around, &Chassis::path);
    around = next == all.end() ? std::nullopt : next->inside;
  }
  return false;
}

Result<Power> power_in(PowerKind kind, std::string_view text) {
  switch (kind) {
    case PowerKind::kEnvironment:
      return environment_power(text);
    case PowerKind::kControl:
      return control_power(text);
    case PowerKind::kSensor:
      return sensor_power(text);
    case PowerKind::kSupplies:
      return supply_power(text);
  }
  return Power();
}

}  // namespace

Result<std::vector<PoweredChassis>> find_chassis(const Fetch& fetch, const std::vector<std::string>& chosen) {
  Search search(fetch);
  const auto all = search.all_chassis();
  if (!all) return all.error();
  const auto candidates = choose(*all, chosen);
  if (!candidates) return candidates.error();
  std::vector<std::pair<Chassis, PowerSource>> powered;
  std::set<std::string> paths, systems;
  for (const Chassis& chassis : *candidates) {
    auto source = search.source_of(chassis);
    if (!source) return source.error();
    if (!*source) continue;
    paths.insert(chassis.path);
    powered.emplace_back(chassis, **std::move(source));
  }
  std::vector<PoweredChassis> found;
  std::set<std::vector<std::string>> measured;
  for (auto& [chassis, source] : powered) {
    if (is_inside(chassis, *all, paths) || !measured.insert(source.paths).second) continue;
    systems.insert(chassis.systems.begin(), chassis.systems.end());
    found.push_back({chassis.id, std::move(source)});
  }
  if (found.empty()) return Error{.message = "no chassis of the service has a power reading"};
  if (chosen.empty() && systems.size() > 1)
    return Error{
        .message = fmt::format("the service manages {} computer systems (set Chassis= to that of this host)",
                               systems.size())};
  return found;
}

Result<Power> read_power(const Fetch& fetch, const PowerSource& source) {
  Microwatts sum;
  for (const std::string& path : source.paths) {
    const auto text = fetch(path);
    if (!text) return text.error();
    const auto power = power_in(source.kind, *text);
    if (!power) return Error{.message = path + ": " + power.error().message};
    if (!*power) return Power();
    sum += **power;
  }
  return Power(sum);
}

}  // namespace keplerd::redfish
