// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/memory.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/parse.h"
#include "cli/fields.h"

namespace keplerd::cli {
namespace {

using enum CheckState;

constexpr char kName[] = "memory";

bool has_memory_zone(const DoctorFacts& facts) {
  return std::ranges::any_of(facts.zones,
                             [](const varlink::Json& zone) { return string_field(zone, "name") == "dram"; });
}

Check check_reported(std::string_view report) {
  if (take_prefix(report, "unknown "))
    return {
        kName, kWarning,
        fmt::format("divided by a model, because its traffic is unknown: {}", printable(std::string(report))),
        "see keplerd-resctrl(8)"};
  return {kName, kOk, "divided by its traffic, as far as keplerd-resctrl reports it", ""};
}

}  // namespace

std::vector<Check> check_memory(const DoctorFacts& facts) {
  if (!has_memory_zone(facts)) return {};
  const MemoryFacts& memory = facts.memory;
  if (memory.report) return {check_reported(*memory.report)};
  if (memory.counts_groups)
    return {
        {kName, kOk,
         fmt::format("divided by a model; resctrl counts the traffic of {} monitoring groups", memory.groups),
         "",
         "systemctl enable --now keplerd-resctrl divides it by that; each second, a CPU of each L3 cache is "
         "interrupted twice for each of the groups"}};
  if (memory.can_count)
    return {{kName, kOk, "divided by a model; the processor can count the traffic of groups of processes", "",
             "mount resctrl and create monitoring groups, see keplerd-resctrl(8)"}};
  return {};
}

}  // namespace keplerd::cli
