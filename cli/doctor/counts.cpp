// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/counts.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/parse.h"
#include "cli/fields.h"

namespace keplerd::cli {
namespace {

using enum CheckState;

// The words for a kind of count.
struct Words {
  CountFacts DoctorFacts::*facts;
  const char* name;            // of the check
  std::string_view zone;       // that is divided by it
  std::string_view its;        // of the workloads together
  std::string_view of_groups;  // for "counts"
  std::string_view cost;       // of counting it
};
constexpr std::array<Words, 2> kWords = {{
    {&DoctorFacts::memory_traffic, "memory", "dram", "its traffic", "the traffic",
     "each second, a CPU of each L3 cache is interrupted twice for each of the groups"},
    {&DoctorFacts::core_energy, "cores", "package", "the energy of their cores", "the energy of cores",
     "each second, two counters are read for each of the groups"},
}};

bool measures(const DoctorFacts& facts, std::string_view name) {
  return std::ranges::any_of(facts.zones, [name](const varlink::Json& zone) {
    const auto quality = string_field(zone, "quality");
    return string_field(zone, "name") == name && (quality == "measured" || quality == "modelled");
  });
}

// keplerd does not divide by a report that is older.
constexpr std::uint64_t kOutOfDate = 60'000'000;  // microseconds

bool is_out_of_date(std::string_view report, std::chrono::microseconds boottime) {
  const auto read_at = parse_number<std::uint64_t>(take_until(report, ' '));
  const auto now = static_cast<std::uint64_t>(boottime.count());
  return !read_at || (*read_at < now && now - *read_at > kOutOfDate);
}

// What is wrong with the report of a program; nothing if it is one of counts.
std::optional<Check> check_report(const char* name, const CountFacts& count, std::string_view instead,
                                  std::string_view its, const char* program,
                                  std::chrono::microseconds boottime) {
  std::string_view report = *count.report;
  if (take_prefix(report, "unknown "))
    return Check{name, kWarning,
                 fmt::format("{}, because {} is unknown: {}", instead, its, printable(std::string(report))),
                 fmt::format("see {}(8)", program)};
  if (is_out_of_date(report, boottime))
    return Check{name, kWarning, fmt::format("{}, because the report of {} is out of date", instead, program),
                 fmt::format("systemctl status {} shows whether it is running", program)};
  return std::nullopt;
}

Check check_reported(const Words& words, const CountFacts& count, std::chrono::microseconds boottime) {
  if (auto problem =
          check_report(words.name, count, "divided by a model", words.its, "keplerd-resctrl", boottime))
    return *std::move(problem);
  if (count.measured == 0)
    return {words.name, kOk,
            "divided by a model; keplerd-resctrl runs, but no monitoring group holds a cgroup", "",
            "keplerd-resctrl(8) describes which groups do"};
  return {words.name, kOk,
          fmt::format("divided by {} for {} cgroups, and by a model for the rest", words.its, count.measured),
          ""};
}

std::optional<Check> check_count(const Words& words, const DoctorFacts& facts) {
  const CountFacts& count = facts.*words.facts;
  if (!measures(facts, words.zone)) return std::nullopt;
  if (facts.settings.attribution.share == ShareRule::kCpuTime) {
    if (!count.report) return std::nullopt;
    return Check{words.name, kOk,
                 fmt::format("divided by CPU time; with Share=cpu-time, {} is not used", words.its)};
  }
  if (count.report) return check_reported(words, count, facts.boottime);
  if (count.counts_groups)
    return Check{words.name, kOk,
                 fmt::format("divided by a model; resctrl counts {} of {} monitoring groups", words.of_groups,
                             facts.monitoring_groups),
                 "",
                 fmt::format("systemctl enable --now keplerd-resctrl divides it by that; {}", words.cost)};
  if (count.can_count)
    return Check{
        words.name, kOk,
        fmt::format("divided by a model; the processor can count {} of groups of processes", words.of_groups),
        "", "mount resctrl and create monitoring groups, see keplerd-resctrl(8)"};
  return std::nullopt;
}

// The setting that asks for what hardware counters count; empty if there is none.
std::string_view asking(const DoctorFacts& facts) {
  switch (facts.settings.attribution.share) {
    case ShareRule::kInstructions:
      return "Share=instructions";
    case ShareRule::kCycles:
      return "Share=cycles";
    default:
      return {};
  }
}

constexpr char kCounters[] = "counters";
constexpr std::string_view kNoPmu = "the kernel reports no hardware counters, as in most virtual machines";

// What keplerd-perf reports.
Check check_reported_events(const DoctorFacts& facts, std::string_view setting) {
  const CountFacts& events = facts.events;
  if (facts.settings.attribution.share == ShareRule::kCpuTime)
    return {kCounters, kOk, "keplerd-perf is running; with Share=cpu-time, its counts are not used"};
  const std::string instead = setting.empty() ? "not used" : fmt::format("{} has no effect", setting);
  if (auto problem =
          check_report(kCounters, events, instead, "the number of events", "keplerd-perf", facts.boottime))
    return *std::move(problem);
  if (events.measured == 0)
    return {kCounters, setting.empty() ? kOk : kWarning,
            fmt::format("{}, because keplerd-perf counts for no cgroup", instead),
            setting.empty() ? "" : "see keplerd-perf(8)"};
  return {kCounters, kOk, fmt::format("keplerd-perf counts for {} cgroups", events.measured)};
}

std::optional<Check> check_events(const DoctorFacts& facts) {
  const CountFacts& events = facts.events;
  const std::string_view setting = asking(facts);
  if (events.report) return check_reported_events(facts, setting);
  if (!setting.empty())
    return Check{
        kCounters, kWarning,
        fmt::format("{} has no effect, because {}", setting,
                    events.counts_groups ? "keplerd-perf is not running" : kNoPmu),
        events.counts_groups ? "systemctl enable --now keplerd-perf" : "set Share=auto in keplerd.conf"};
  if (!measures(facts, "package") && !measures(facts, "dram")) return std::nullopt;
  if (!events.counts_groups) return Check{kCounters, kOk, fmt::format("not used: {}", kNoPmu)};
  const bool is_useful = events.can_count && measures(facts, "dram") && !facts.memory_traffic.report;
  return Check{kCounters, kOk, "not used; the kernel can count events for cgroups", "",
               is_useful
                   ? "systemctl enable --now keplerd-perf divides the energy of memory in proportion to "
                     "cache misses; each switch between cgroups then takes longer, see keplerd-perf(8)"
                   : "Share=instructions and Share=cycles, which are meant for comparisons, need them; "
                     "see keplerd-perf(8)"};
}

}  // namespace

std::vector<Check> check_counts(const DoctorFacts& facts) {
  std::vector<Check> checks;
  for (const Words& words : kWords)
    if (auto check = check_count(words, facts)) checks.push_back(*std::move(check));
  if (auto check = check_events(facts)) checks.push_back(*std::move(check));
  return checks;
}

}  // namespace keplerd::cli
