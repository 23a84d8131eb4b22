// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/totals.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cli/fields.h"
#include "cli/output/human.h"

namespace keplerd::cli {
namespace {

// In microwatts; unset if no zone has it.
struct Power {
  std::optional<std::int64_t> whole, parts;
  bool known() const { return whole && parts; }
};

bool is_too_much(const Power& power) {
  constexpr std::int64_t kStep = 2'000'000;
  return power.known() && *power.parts > *power.whole + *power.whole / 20 + kStep;
}

bool is_current(const Json& zone) { return string_field(zone, "state") == "running"; }

// Adds up the zones that `is_part` selects, by index, or all as one.
template <class IsPart>
std::map<std::int64_t, Power> compare(const std::vector<Json>& zones, const std::string& whole,
                                      IsPart is_part, bool by_index) {
  std::map<std::int64_t, Power> compared;
  for (const Json& zone : zones) {
    const auto power = integer_field(zone, "powerMicrowatts");
    const std::string name = name_text(zone, "name");
    if (!power || !is_current(zone)) continue;
    const std::int64_t index = by_index ? integer_field(zone, "index").value_or(0) : 0;
    Power& at = compared[index];
    if (name == whole) at.whole = at.whole.value_or(0) + *power;
    if (is_part(name)) at.parts = at.parts.value_or(0) + *power;
  }
  return compared;
}

Check too_much(const std::string& what, const Power& power) {
  return {"totals", CheckState::kWarning,
          fmt::format("{}: its parts draw {}, but the whole only {}", what, format_power({*power.parts}),
                      format_power({*power.whole})),
          "report this with the file written by 'keplerctl doctor --capture FILE'"};
}

}  // namespace

Check check_totals(const std::vector<Json>& zones) {
  const auto packages = compare(
      zones, "package", [](const std::string& name) { return name == "core" || name == "uncore"; }, true);
  const auto platform = compare(
      zones, "psys", [](const std::string& name) { return name == "package" || name == "dram"; }, false);
  bool any = false;
  for (const auto& [index, power] : packages) {
    any = any || power.known();
    if (is_too_much(power)) return too_much(fmt::format("package {}", index), power);
  }
  for (const auto& [index, power] : platform) {
    any = any || power.known();
    if (is_too_much(power)) return too_much("psys", power);
  }
  return {"totals", CheckState::kOk,
          any ? "every zone draws at least as much as its parts" : "no zone is part of another", ""};
}

}  // namespace keplerd::cli
