// SPDX-License-Identifier: Apache-2.0
#include "config/settings_table.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "config/key_table.h"
#include "config/setting_values.h"
#include "config/time_span.h"

namespace keplerd {
namespace {

// One word of an open set.
template <class Value>
struct Choice {
  std::string_view name;
  Value value;
};

// The sources of lib/energy, by name: this folder knows no other.
constexpr Choice<std::string_view> kSources[] = {
    {"auto", "auto"},   {"perf", "perf"},           {"powercap", "powercap"},   {"guest", "guest"},
    {"hwmon", "hwmon"}, {"simulated", "simulated"}, {"estimated", "estimated"},
};
constexpr Choice<SplitRule> kSplitRules[] = {
    {"auto", SplitRule::kAuto}, {"usage-ratio", SplitRule::kUsageRatio}, {"baseline", SplitRule::kBaseline}};
constexpr Choice<ShareRule> kShareRules[] = {{"auto", ShareRule::kAuto},
                                             {"cpu-time", ShareRule::kCpuTime},
                                             {"learned", ShareRule::kLearned},
                                             {"instructions", ShareRule::kInstructions},
                                             {"cycles", ShareRule::kCycles}};
constexpr Choice<IdlePolicy> kIdlePolicies[] = {{"separate", IdlePolicy::kSeparate},
                                                {"equal", IdlePolicy::kEqual},
                                                {"size", IdlePolicy::kSize},
                                                {"usage", IdlePolicy::kUsage}};
constexpr Choice<PublicAccess> kPublicAccess[] = {{"none", PublicAccess::kNone},
                                                  {"own", PublicAccess::kOwn},
                                                  {"host", PublicAccess::kHost},
                                                  {"all", PublicAccess::kAll}};

constexpr Choice<bool> kYesNo[] = {{"yes", true}, {"no", false}};

// `kChoices`: one of the arrays above.
template <const auto& kChoices>
auto choose(std::string_view text) {
  using Chosen = Result<std::remove_cvref_t<decltype(kChoices[0].value)>>;
  std::string accepted;
  for (const auto& choice : kChoices) {
    if (choice.name == text) return Chosen(choice.value);
    accepted += (accepted.empty() ? "" : ", ") + std::string(choice.name);
  }
  return Chosen(Error{fmt::format("unknown; accepted: {}", accepted)});
}

template <const auto& kChoices>
std::string_view name_of(const auto& value) {
  return std::ranges::find_if(kChoices, [&](const auto& choice) { return choice.value == value; })->name;
}

// The value of a key as text.
struct TextAccess {
  Result<Done> (*parse)(Settings& settings, std::string_view text);
  std::string (*print)(const Settings& settings);
};

// Of `kMember` in `kSection` of the settings, which `kParse` reads and `kPrint` writes.
template <auto kSection, auto kMember, auto kParse, auto kPrint>
constexpr TextAccess text_of() {
  return {.parse = [](Settings& settings, std::string_view text) -> Result<Done> {
            auto value = kParse(text);
            if (!value) return value.error();
            settings.*kSection.*kMember = *std::move(value);
            return Done{};
          },
          .print = [](const Settings& settings) { return std::string(kPrint(settings.*kSection.*kMember)); }};
}

// The same where it is one of `kChoices`.
template <auto kSection, auto kMember, const auto& kChoices>
constexpr TextAccess word_of() {
  constexpr auto print = [](const auto& value) { return name_of<kChoices>(value); };
  return text_of<kSection, kMember, choose<kChoices>, print>();
}

struct Row {
  std::string_view section;
  std::string_view key;
  TextAccess text;
};

// In the order of the manual page.
constexpr Row kRows[] = {
    {"Energy", "Source", word_of<&Settings::energy, &EnergySettings::source, kSources>()},
    {"Energy", "Zones", text_of<&Settings::energy, &EnergySettings::zones, parse_zones, format_names>()},
    {"Energy", "IdleWatts",
     text_of<&Settings::energy, &EnergySettings::idle_power, parse_watts, format_watts>()},
    {"Energy", "MaxWatts",
     text_of<&Settings::energy, &EnergySettings::max_power, parse_watts, format_watts>()},
    {"Energy", "GuestMeter",
     text_of<&Settings::energy, &EnergySettings::guest_meter, parse_directory, format_directory>()},
    {"Sampling", "Interval",
     text_of<&Settings::sampling, &SamplingSettings::interval, parse_interval, format_time_span>()},
    {"Sampling", "UnwatchedInterval",
     text_of<&Settings::sampling, &SamplingSettings::unwatched_interval, parse_unwatched_interval,
             format_time_span>()},
    {"Sampling", "Staleness",
     text_of<&Settings::sampling, &SamplingSettings::staleness, parse_staleness, format_time_span>()},
    {"Attribution", "Split", word_of<&Settings::attribution, &AttributionSettings::split, kSplitRules>()},
    {"Attribution", "Share", word_of<&Settings::attribution, &AttributionSettings::share, kShareRules>()},
    {"Attribution", "Idle", word_of<&Settings::attribution, &AttributionSettings::idle, kIdlePolicies>()},
    {"Attribution", "IdlePower",
     text_of<&Settings::attribution, &AttributionSettings::idle_power, parse_watts, format_watts>()},
    {"Workloads", "TerminatedMax",
     text_of<&Settings::workloads, &WorkloadSettings::terminated_max, parse_count, format_count>()},
    {"Workloads", "TerminatedMinEnergy",
     text_of<&Settings::workloads, &WorkloadSettings::terminated_min_energy, parse_least_energy,
             format_energy>()},
    {"Workloads", "TerminatedRetention",
     text_of<&Settings::workloads, &WorkloadSettings::terminated_retention, parse_retention,
             format_retention>()},
    {"Workloads", "VmRetention",
     text_of<&Settings::workloads, &WorkloadSettings::vm_retention, parse_retention, format_retention>()},
    {"Access", "Public", word_of<&Settings::access, &AccessSettings::public_access, kPublicAccess>()},
    {"Guests", "Machines", text_of<&Settings::guests, &GuestSettings::vms, parse_vms, format_names>()},
    {"Guests", "Metadata", word_of<&Settings::guests, &GuestSettings::by_metadata, kYesNo>()},
    {"Guests", "Directory",
     text_of<&Settings::guests, &GuestSettings::directory, parse_directory, format_directory>()},
    {"Resctrl", "Groups",
     text_of<&Settings::resctrl, &ResctrlSettings::groups, parse_patterns, format_names>()},
    {"Perf", "Cgroups", text_of<&Settings::perf, &PerfSettings::cgroups, parse_patterns, format_names>()},
    {"Perf", "Descriptors",
     text_of<&Settings::perf, &PerfSettings::descriptors, parse_descriptors, format_descriptors>()},
};

Error unknown_key(std::string_view section, std::string_view key) {
  const auto elsewhere =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& row) { return row.key == key; });
  if (!section.empty() && elsewhere != std::end(kRows))
    return {fmt::format("{}= belongs in section [{}]", key, elsewhere->section)};
  return unknown_key_of(kRows, section, key);
}

}  // namespace

std::string_view rule_name(SplitRule rule) { return name_of<kSplitRules>(rule); }
std::string_view rule_name(ShareRule rule) { return name_of<kShareRules>(rule); }
std::string_view rule_name(IdlePolicy policy) { return name_of<kIdlePolicies>(policy); }
std::optional<IdlePolicy> parse_idle_policy(std::string_view name) {
  const auto policy = choose<kIdlePolicies>(name);
  return policy ? std::optional(*policy) : std::nullopt;
}
std::string_view rule_name(PublicAccess access) { return name_of<kPublicAccess>(access); }

Result<Done> check_section(std::string_view section) { return check_section_of(kRows, section); }

Result<Done> set_setting(Settings& settings, std::string_view section, std::string_view key,
                         std::string_view value) {
  if (!section.empty()) {
    if (auto known = check_section(section); !known) return known;
  }
  const auto row = find_key(kRows, section, key);
  if (row == std::end(kRows)) return unknown_key(section, key);
  const std::string text(value.empty() ? row->text.print(Settings{}) : value);
  const auto done = row->text.parse(settings, text);
  if (!done) return Error{fmt::format("{}={}: {}", key, escape_name(value), done.error().message)};
  return Done{};
}

Result<Done> check_together(const Settings& settings) {
  const EnergySettings& energy = settings.energy;
  if (energy.source != "estimated") return Done{};
  const std::string place = energy.source_place.text.empty() ? "" : energy.source_place.text + ": ";
  if (energy.max_power &&
      (*energy.max_power == Microwatts{} || energy.idle_power.value_or(Microwatts{}) > *energy.max_power)) {
    return Error{place + "Source=estimated needs a MaxWatts= above 0 that is not below IdleWatts="};
  }
  return Done{};
}

std::vector<SettingText> describe_settings(const Settings& settings) {
  std::vector<SettingText> texts;
  for (const Row& row : kRows) texts.push_back({row.section, row.key, row.text.print(settings)});
  return texts;
}

std::string format_settings(const Settings& settings) {
  std::string out;
  std::string_view section;
  for (const auto& text : describe_settings(settings)) {
    if (text.section != section) out += fmt::format("{}[{}]\n", out.empty() ? "" : "\n", text.section);
    section = text.section;
    out += fmt::format("{}={}\n", text.key, text.value);
  }
  return out;
}

}  // namespace keplerd
