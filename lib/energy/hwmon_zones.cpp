// SPDX-License-Identifier: Apache-2.0
#include "energy/hwmon_zones.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/parse.h"
#include "base/pci_address.h"
#include "base/text.h"

namespace keplerd {
namespace {

enum class Read { kPlain, kMayBlock, kMayWake };

// One line per chip and kind of input. A label that ends in "#" is followed by the zone's index.
struct Rule {
  std::string_view chip;
  std::string_view kind;  // "energy" or "power"
  std::string_view label;
  std::string_view source;  // of the zone's id
  std::string_view zone;
  HwmonRole role;
  Quality quality;
  Read read = Read::kPlain;
};

constexpr auto kCpu = HwmonRole::kProcessor;
constexpr auto kPlatform = HwmonRole::kPlatform;
constexpr auto kGpu = HwmonRole::kGpu;
constexpr auto kModelled = Quality::kModelled;

constexpr std::array kRules = {
    Rule{"amd_energy", "energy", "Esocket#", "hwmon", "package", kCpu, kModelled},
    Rule{"fam15h_power", "power", "", "hwmon", "package", kCpu, kModelled},
    Rule{"apm_xgene", "power", "CPU power", "hwmon", "package", kCpu, kModelled},
    Rule{"power_meter", "power", "", "acpi", "platform", kPlatform, kModelled, Read::kMayBlock},
    Rule{"ina209", "power", "", "ina", "rail", kPlatform, kModelled},
    Rule{"ina219", "power", "", "ina", "rail", kPlatform, kModelled},
    Rule{"ina220", "power", "", "ina", "rail", kPlatform, kModelled},
    Rule{"ina226", "power", "", "ina", "rail", kPlatform, kModelled},
    Rule{"ina230", "power", "", "ina", "rail", kPlatform, kModelled},
    Rule{"ina231", "power", "", "ina", "rail", kPlatform, kModelled},
    Rule{"ina238", "power", "", "ina", "rail", kPlatform, kModelled},
    Rule{"i915", "energy", "", "i915", "gpu", kGpu, Quality::kMeasured, Read::kMayWake},
    Rule{"xe", "energy", "card", "xe", "gpu", kGpu, Quality::kMeasured, Read::kMayWake},
    Rule{"xe", "energy", "pkg", "xe", "gpu-package", kGpu, Quality::kMeasured, Read::kMayWake},
    Rule{"xe", "energy", "vram", "xe", "gpu-memory", kGpu, Quality::kMeasured, Read::kMayWake},
    // With integrated graphics, this covers the whole socket; as it is not in the total, that does no harm.
    Rule{"amdgpu", "power", "PPT", "amdgpu", "gpu", kGpu, kModelled, Read::kMayWake},
    Rule{"amdgpu", "power", "", "amdgpu", "gpu", kGpu, kModelled, Read::kMayWake},
};

// "energy1_input" is channel 1 of "energy".
struct Channel {
  std::string_view kind;
  int number = 0;
  bool average = false;
};

std::optional<Channel> parse_channel(std::string_view file) {
  for (const std::string_view kind : {"energy", "power"}) {
    if (!file.starts_with(kind)) continue;
    auto rest = file.substr(kind.size());
    const auto number = parse_number<int>(take_until(rest, '_'));
    const bool average = kind == "power" && rest == "average";
    if (!number || *number < 0 || (rest != "input" && !average)) return std::nullopt;
    return Channel{kind, *number, average};
  }
  return std::nullopt;
}

// The index in the label, or -1 if it follows from the order; nothing if the label does not match.
std::optional<int> match_label(std::string_view rule, std::string_view label) {
  if (!rule.ends_with('#')) return rule == label ? std::optional(-1) : std::nullopt;
  rule.remove_suffix(1);
  if (!label.starts_with(rule)) return std::nullopt;
  const auto index = parse_number<unsigned short>(label.substr(rule.size()));
  return index ? std::optional<int>(*index) : std::nullopt;
}

struct Match {
  const Rule* rule = nullptr;
  int index = -1;
};

std::optional<Match> match(const HwmonChip& chip, const Channel& channel, std::string_view label) {
  for (const Rule& rule : kRules) {
    if (rule.chip != chip.name || rule.kind != channel.kind) continue;
    if (const auto index = match_label(rule.label, label)) return Match{&rule, *index};
  }
  return std::nullopt;
}

// One input per channel: the average, if there is one.
std::map<std::pair<std::string_view, int>, const HwmonInput*> channels_of(const HwmonChip& chip) {
  std::map<std::pair<std::string_view, int>, const HwmonInput*> channels;
  for (const HwmonInput& input : chip.inputs) {
    const auto channel = parse_channel(input.file);
    if (!channel) continue;
    // fam15h_power samples the average while the reader waits.
    if (channel->average && chip.name == "fam15h_power") continue;
    auto& kept = channels[{channel->kind, channel->number}];
    if (kept == nullptr || channel->average) kept = &input;
  }
  return channels;
}

Resource resource_of(HwmonRole role) {
  switch (role) {
    case HwmonRole::kProcessor:
      return Resource::kCpu;
    case HwmonRole::kPlatform:
      return Resource::kNone;
    case HwmonRole::kGpu:
      return Resource::kGpu;
  }
  return Resource::kNone;
}

HwmonZone make_zone(const Match& match, int index, const HwmonChip& chip, const HwmonInput& input) {
  const Rule& rule = *match.rule;
  const bool counts_power = rule.kind == "power";
  return {.zone = {.id = zone_id(rule.source, rule.zone, index),
                   .name = std::string(rule.zone),
                   .index = index,
                   .quality = rule.quality,
                   .in_total = rule.role == HwmonRole::kProcessor,
                   .begins_anew = counts_power,
                   .resource = resource_of(rule.role),
                   .device = rule.role == HwmonRole::kGpu ? pci_address(chip.device).value_or("") : "",
                   .covers = chip.is_in_processor ? std::optional(Coverage::kCpu) : std::nullopt},
          .directory = chip.directory,
          .file = input.file,
          .counts_power = counts_power,
          .slow = rule.read == Read::kMayBlock,
          .may_sleep = rule.read == Read::kMayWake};
}

}  // namespace

bool is_known_chip(std::string_view name) {
  return std::ranges::find(kRules, name, &Rule::chip) != kRules.end();
}

std::vector<HwmonZone> hwmon_zones(std::vector<HwmonChip> chips, const std::vector<HwmonRole>& roles) {
  std::ranges::sort(chips, {},
                    [](const HwmonChip& chip) { return std::tie(chip.name, chip.device, chip.directory); });
  std::map<std::pair<std::string_view, std::string_view>, int> next;  // index by source and zone
  std::set<std::string> taken;
  std::vector<HwmonZone> zones;
  for (const HwmonChip& chip : chips) {
    for (const auto& [channel, input] : channels_of(chip)) {
      const auto found = match(chip, {channel.first, channel.second}, input->label);
      if (!found || std::ranges::find(roles, found->rule->role) == roles.end()) continue;
      const int index = found->index >= 0 ? found->index : next[{found->rule->source, found->rule->zone}]++;
      auto zone = make_zone(*found, index, chip, *input);
      if (taken.insert(zone.zone.id).second) zones.push_back(std::move(zone));
    }
  }
  return zones;
}

Result<std::int64_t> parse_hwmon_value(std::string_view text) {
  const auto value = parse_number<std::int64_t>(trim(text));
  if (!value || *value < 0) {
    return Error{.message = fmt::format("\"{}\" is no amount of energy or power", escape_name(trim(text)))};
  }
  return *value;
}

}  // namespace keplerd
