// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/memory.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
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

// keplerd does not divide by a report that is older.
constexpr std::uint64_t kOutOfDate = 60'000'000;  // microseconds

bool is_out_of_date(std::string_view report, std::chrono::microseconds boottime) {
  const auto read_at = parse_number<std::uint64_t>(take_until(report, ' '));
  const auto now = static_cast<std::uint64_t>(boottime.count());
  return !read_at || (*read_at < now && now - *read_at > kOutOfDate);
}

Check check_reported(const MemoryFacts& memory) {
  std::string_view report = *memory.report;
  if (take_prefix(report, "unknown "))
    return {
        kName, kWarning,
        fmt::format("divided by a model, because its traffic is unknown: {}", printable(std::string(report))),
        "see keplerd-resctrl(8)"};
  if (is_out_of_date(report, memory.boottime))
    return {kName, kWarning, "divided by a model, because the report of keplerd-resctrl is out of date",
            "systemctl status keplerd-resctrl shows whether it is running"};
  if (memory.measured == 0)
    return {kName, kOk, "divided by a model; keplerd-resctrl runs, but no monitoring group holds a cgroup",
            "", "keplerd-resctrl(8) describes which groups do"};
  return {kName, kOk,
          fmt::format("divided by its traffic for {} cgroups, and by a model for the rest", memory.measured),
          ""};
}

}  // namespace

std::vector<Check> check_memory(const DoctorFacts& facts) {
  if (!has_memory_zone(facts)) return {};
  const MemoryFacts& memory = facts.memory;
  if (memory.report) return {check_reported(memory)};
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
