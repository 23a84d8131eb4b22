// SPDX-License-Identifier: Apache-2.0
#include "energy/cpu/powercap_zones.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/parse.h"
#include "base/text.h"

namespace keplerd {
namespace {

constexpr std::string_view kSource = "powercap";
// Firmware reports garbage as the limit of zones that have none. No zone could draw more than this.
constexpr Microwatts kLargestCredibleLimit{10'000'000'000};

// Sorts directories by control type, then by the numbers after it.
struct DirectoryRank {
  bool mmio = false;
  std::vector<std::pair<std::uint64_t, std::string_view>>
      parts;  // parts that are not numbers sort last, alphabetically
  auto operator<=>(const DirectoryRank&) const = default;
};

DirectoryRank rank(std::string_view directory) {
  DirectoryRank rank;
  rank.mmio = powercap_control_type(directory) != "intel-rapl";
  auto rest = directory;
  take_until(rest, ':');
  while (!rest.empty()) {
    const auto part = take_until(rest, ':');
    const auto number = parse_number<std::uint64_t>(part);
    rank.parts.emplace_back(number.value_or(UINT64_MAX), number ? std::string_view{} : part);
  }
  return rank;
}

using DirectoryList = std::vector<const PowercapDirectory*>;

DirectoryList rapl_directories(const std::vector<PowercapDirectory>& all) {
  DirectoryList rapl;
  for (const auto& directory : all) {
    if (is_rapl_zone(directory.name)) rapl.push_back(&directory);
  }
  std::sort(rapl.begin(), rapl.end(),
            [](const auto* a, const auto* b) { return rank(a->name) < rank(b->name); });
  return rapl;
}

bool is_top_level(const PowercapDirectory& directory) {
  return powercap_parent(directory.name) == powercap_control_type(directory.name);
}

// A zone's name and index, without its source.
using Key = std::pair<std::string, int>;

// Numbers the top-level zones: packages by their own number or their die's ordinal, others ("psys") in the
// order of their directories.
class TopLevel {
 public:
  explicit TopLevel(const DirectoryList& directories) {
    for (const auto* directory : directories) {
      if (!is_top_level(*directory)) continue;
      const auto package = parse_package_name(directory->zone);
      if (!package) continue;
      if (package->die >= 0) has_dies_ = true;
      packages_.insert(with_die(*package));
    }
  }

  Key key_of(const PowercapDirectory& directory) {
    if (const auto package = parse_package_name(directory.zone)) {
      if (!has_dies_) return {"package", package->package};
      return {"package",
              static_cast<int>(std::distance(packages_.begin(), packages_.find(with_die(*package))))};
    }
    const std::string control_type(powercap_control_type(directory.name));
    return {escape_name(directory.zone), seen_[{control_type, directory.zone}]++};
  }

 private:
  static PackageName with_die(PackageName package) { return {package.package, std::max(package.die, 0)}; }

  bool has_dies_ = false;
  std::set<PackageName> packages_;
  std::map<std::pair<std::string, std::string>, int> seen_;
};

Microwatts largest_limit(const std::vector<std::string>& limits) {
  Microwatts largest;
  for (const auto& text : limits) {
    const Microwatts limit{parse_number<std::int64_t>(trim(text)).value_or(0)};
    if (limit <= kLargestCredibleLimit) largest = std::max(largest, limit);
  }
  return largest;
}

Zone make_zone(const Key& key, const PowercapDirectory& directory, const Processor& processor) {
  const auto range = parse_number<std::int64_t>(trim(directory.range)).value_or(0);
  Zone zone{.id = zone_id(kSource, key.first, key.second),
            .name = key.first,
            .index = key.second,
            .in_total = key.first == "package" || key.first == "dram",
            .range = {std::max<std::int64_t>(range, 0)},
            .largest_limit = largest_limit(directory.limits),
            .resource = rapl_resource(key.first)};
  set_quality(zone, processor);
  return zone;
}

// A zone's position in lists.
auto place(const Zone& zone) {
  constexpr std::array<std::string_view, 5> kOrder = {"package", "dram", "core", "uncore", "psys"};
  return std::tuple(std::find(kOrder.begin(), kOrder.end(), zone.name) - kOrder.begin(),
                    std::string_view(zone.name), zone.index);
}

}  // namespace

std::string_view powercap_parent(std::string_view directory) {
  const auto end = directory.rfind(':');
  return end == std::string_view::npos ? std::string_view{} : directory.substr(0, end);
}

std::string_view powercap_control_type(std::string_view directory) {
  return directory.substr(0, directory.find(':'));
}

bool is_rapl_zone(std::string_view directory) {
  const auto type = powercap_control_type(directory);
  return type.size() < directory.size() && (type == "intel-rapl" || type == "intel-rapl-mmio");
}

std::optional<PackageName> parse_package_name(std::string_view name) {
  constexpr std::string_view kPackage = "package-";
  constexpr std::string_view kDie = "-die-";
  if (!name.starts_with(kPackage)) return std::nullopt;
  name.remove_prefix(kPackage.size());
  const auto end = std::min(name.find(kDie), name.size());
  const auto package = parse_number<int>(name.substr(0, end));
  if (!package || *package < 0) return std::nullopt;
  if (end == name.size()) return PackageName{.package = *package};
  const auto die = parse_number<int>(name.substr(end + kDie.size()));
  if (!die || *die < 0) return std::nullopt;
  return PackageName{.package = *package, .die = *die};
}

std::vector<PowercapZone> powercap_zones(const std::vector<PowercapDirectory>& directories,
                                         const Processor& processor, std::vector<LeftOut>* left_out) {
  const auto rapl = rapl_directories(directories);
  TopLevel top(rapl);
  std::map<std::string_view, Key> keys;    // by directory; parents come before their children
  std::map<Key, std::string_view> takers;  // the directory that each zone is read from
  std::vector<PowercapZone> zones;
  const auto leave_out = [&](const PowercapDirectory& directory, const std::string& why) {
    if (left_out == nullptr) return;
    left_out->push_back({fmt::format("{} {}", kSource, escape_name(directory.name)), why});
  };
  for (const auto* directory : rapl) {
    const auto parent = keys.find(powercap_parent(directory->name));
    if (directory->zone.empty() || (!is_top_level(*directory) && parent == keys.end())) {
      leave_out(*directory, "what it measures is unknown");
      continue;
    }
    const Key key = is_top_level(*directory) ? top.key_of(*directory)
                                             : Key{escape_name(directory->zone), parent->second.second};
    keys.emplace(directory->name, key);
    const auto [taker, is_first] = takers.emplace(key, directory->name);
    if (!is_first) {
      leave_out(*directory, fmt::format("is {} again, provided by another driver", taker->second));
    } else if (processor.amd && key.first == "core") {
      leave_out(*directory, "is the counter of a single core on AMD");
    } else {
      zones.push_back({.zone = make_zone(key, *directory, processor), .directory = directory->name});
    }
  }
  std::sort(zones.begin(), zones.end(),
            [](const PowercapZone& a, const PowercapZone& b) { return place(a.zone) < place(b.zone); });
  return zones;
}

Result<Microjoules> parse_energy_counter(std::string_view text) {
  const auto value = parse_number<std::int64_t>(trim(text));
  if (!value || *value < 0) {
    return Error{.message = fmt::format("\"{}\" is not a number of microjoules", escape_name(trim(text)))};
  }
  return Microjoules{*value};
}

}  // namespace keplerd
