// SPDX-License-Identifier: Apache-2.0
#include "daemon/problems.h"

#include <algorithm>

#include <fmt/format.h>

namespace keplerd {
namespace {

bool lacks_reading(const Report& report) {
  return std::ranges::any_of(
      report.zones, [](const ZoneRow& zone) { return zone.current && zone.zone.in_total && zone.problem; });
}

// `powerless`: for several windows, for any reason.
std::vector<Problem> find_in(const Report& report, bool powerless) {
  std::vector<Problem> problems;
  const auto add = [&problems](ProblemKind kind, std::string what, std::string object = {}) {
    problems.push_back({kind, std::move(object), std::move(what)});
  };
  if (report.source.name == "none")
    add(ProblemKind::kSource, report.source.reason.value_or("there is no energy source"));
  for (const ZoneRow& zone : report.zones) {
    if (zone.current && zone.problem)
      add(ProblemKind::kZone, "cannot be read: " + *zone.problem, zone.zone.id);
  }
  if (report.source.name != "none" && !report.host.power && (powerless || lacks_reading(report)))
    add(ProblemKind::kPower, "the power of the host is unknown");
  if (report.groups_left_out > 0)
    add(ProblemKind::kCgroups, fmt::format("{} cgroups have no rows, because there are too many or they are "
                                           "nested too deeply: they are counted in their parents",
                                           report.groups_left_out));
  if (report.processes_left_out > 0)
    add(ProblemKind::kProcesses,
        fmt::format("{} processes have no rows, because there are too many: they are counted in their units",
                    report.processes_left_out));
  if (report.platform && report.platform->contradiction) {
    const auto watts = [](Microwatts power) { return static_cast<double>(power.value) / 1e6; };
    const RestPower::Contradiction& means = *report.platform->contradiction;
    add(ProblemKind::kPlatform,
        fmt::format(
            "reports {:.1f} W for the whole host, but processors, memory and graphics cards draw {:.1f} W",
            watts(means.platform), watts(means.parts)),
        report.platform->id);
  }
  return problems;
}

}  // namespace

void Problems::set(ProblemKind kind, std::optional<std::string> what) {
  if (what) {
    set_[kind] = *std::move(what);
  } else {
    set_.erase(kind);
  }
}

void Problems::add_to(Report& report) {
  if (report.window >= kShortestPowerSpan) {  // a shorter one never has power
    powerless_ = !report.host.power && !had_power_;
    had_power_ = report.host.power.has_value();
  }
  report.problems = find_in(report, powerless_);
  for (const auto& [kind, what] : set_) report.problems.push_back({kind, {}, what});
  const auto before = std::exchange(since_, {});
  for (Problem& problem : report.problems) {
    const auto key = std::pair(problem.kind, problem.object);
    const auto known = before.find(key);
    problem.since = since_[key] = known == before.end() ? report.realtime : known->second;
  }
}

}  // namespace keplerd
