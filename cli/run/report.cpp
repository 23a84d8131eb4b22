// SPDX-License-Identifier: Apache-2.0
#include "cli/run/report.h"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "cli/fields.h"
#include "cli/output/human.h"

namespace keplerd::cli::run {
namespace {

using Wide = __int128;

std::optional<Microjoules> energy_field(const Json& object, std::string_view name) {
  const auto value = integer_field(object, name);
  return value ? std::optional(Microjoules{*value}) : std::nullopt;
}

// What was added between the two; what did not exist before counts from 0. Unset if either is not known, or
// the counter has gone back.
std::optional<std::int64_t> increase(const Json& before, const Json& after, std::string_view name) {
  const auto last = integer_field(after, name);
  const std::int64_t first = integer_field(before, name).value_or(0);
  if (!last || *last < first) return std::nullopt;
  return *last - first;
}

std::optional<Microjoules> energy_increase(const Json& before, const Json& after, std::string_view name) {
  const auto value = increase(before, after, name);
  return value ? std::optional(Microjoules{*value}) : std::nullopt;
}

// Subtracts the idle part of an energy or power, and drops it.
void subtract_idle(Json& object, const char* name, const char* idle) {
  const std::int64_t placed = integer_field(object, idle).value_or(0);
  if (placed != 0) object[name] = integer_field(object, name).value_or(0) - placed;
  if (object.is_object()) object.erase(idle);
}

microseconds time_of(const Json& status) {
  return microseconds(integer_field(status, "monotonicUsec").value_or(0));
}

// `amount` of `whole`, in proportion to time; all of it if the run took longer.
Microjoules in_proportion(Microjoules amount, microseconds part, microseconds whole) {
  if (whole <= part || whole.count() <= 0) return amount;
  return {static_cast<std::int64_t>(static_cast<Wide>(amount.value) * part.count() / whole.count())};
}

void sort_parts(std::vector<Part>& parts) {
  std::ranges::stable_sort(parts, [](const Part& a, const Part& b) { return a.energy > b.energy; });
}

// Those of the unit's zones that have got energy.
std::vector<Part> zone_parts(const Json& before, const Json& after) {
  const auto earlier = [&](const std::string& id) {
    for (const Json& zone : client::elements(field(before, "zones")))
      if (string_field(zone, "id") == id) return energy_field(zone, "energyMicrojoules");
    return std::optional<Microjoules>();
  };
  std::vector<Part> parts;
  for (const Json& zone : client::elements(field(after, "zones"))) {
    const std::string id = client::text(zone, "id");
    const auto last = energy_field(zone, "energyMicrojoules");
    if (!last) continue;
    const Microjoules energy = *last - earlier(id).value_or(Microjoules{0});
    if (energy.value > 0) parts.push_back({id, energy});
  }
  sort_parts(parts);
  return parts;
}

// Whether a row is of a process in this unit, or below it, and neither of an earlier unit of the same name
// nor keplerctl's own. All but the command's process begin after the measurement; keplerd may have seen that
// one before it was put into the unit.
bool is_of_unit(const Json& process, const Measurement& measurement) {
  const std::string unit = client::text(measurement.after.row, "id");
  const std::string in = client::text(process, "unit");
  if (unit.empty() || (in != unit && !in.starts_with(unit + "/"))) return false;
  const auto pid = integer_field(process, "pid");
  if (pid == measurement.holder) return false;
  if (pid == measurement.command) return true;
  if (string_field(process, "state") != "terminated") return true;
  const auto since = integer_field(process, "sinceUsec");
  const auto began = integer_field(measurement.before.status, "realtimeUsec");
  return !since || !began || *since >= *began;
}

std::vector<std::string> running_processes(const Measurement& measurement) {
  std::vector<std::string> out;
  for (const Json& row : measurement.processes) {
    if (!is_of_unit(row, measurement) || string_field(row, "state") != "running") continue;
    out.push_back(
        fmt::format("{} (PID {})", client::text(row, "comm"), integer_field(row, "pid").value_or(0)));
  }
  return out;
}

std::vector<Part> program_parts(const Measurement& measurement) {
  std::map<std::string, Part> by_name;
  for (const Json& row : measurement.processes) {
    if (!is_of_unit(row, measurement)) continue;
    const std::string name = printable(client::text(row, "comm"));
    Part& part = by_name.try_emplace(name, Part{name}).first->second;
    const auto own = energy_field(row, "unitMicrojoules");
    part.energy += own ? *own : energy_field(row, "energyMicrojoules").value_or(Microjoules{0});
    part.cpu += microseconds(integer_field(row, "cpuUsec").value_or(0));
  }
  std::vector<Part> parts;
  for (auto& [name, part] : by_name)
    if (part.energy.value > 0) parts.push_back(std::move(part));
  sort_parts(parts);
  return parts;
}

// Unset if there is none, or keplerd rounds them to more than the whole.
std::optional<Microjoules> rest_of(std::optional<Microjoules> whole, const std::vector<Part>& parts) {
  if (!whole) return std::nullopt;
  Microjoules rest = *whole;
  for (const Part& part : parts) rest -= part.energy;
  return rest.value > 0 ? std::optional(rest) : std::nullopt;
}

// Of the readings: what the host uses in a tick, or the step of what the caller may see.
Microjoules resolution_of(const Reading& before, const Reading& after) {
  const auto host = increase(field(before.status, "host"), field(after.status, "host"), "energyMicrojoules");
  const microseconds span = time_of(after.status) - time_of(before.status);
  Microjoules resolution{1};
  if (host && span.count() > 0) {
    const Wide step = static_cast<Wide>(*host) * kTick.count() / span.count();
    resolution = {static_cast<std::int64_t>(step) + 1};
  }
  const bool is_public = !field(after.status, "accounts").is_object();
  return is_public ? std::max(resolution, kPublicStep) : resolution;
}

// Whether keplerd has divided all that the host drew between the readings, also while it did not run itself.
bool is_all_divided(const Reading& before, const Reading& after) {
  const auto same = [](const Json& one, const Json& other, const char* name) {
    const auto value = integer_field(one, name);
    return value && value == integer_field(other, name);
  };
  return same(field(before.status, "accounts"), field(after.status, "accounts"), "unattributed") &&
         same(before.status, after.status, "discardedWindows");
}

// What a cgroup used while keplerd did not run is known if it still exists, as that of a command does until
// its report. Other rows may have been ended and started again.
bool may_lack_a_gap(const CommandRun& run, const Measurement& measurement) {
  return measurement.interrupted && (run.attached || !is_all_divided(measurement.before, measurement.after));
}

std::string problem_of(const CommandRun& run, const Measurement& measurement) {
  const Reading &before = measurement.before, &after = measurement.after;
  const Json& source = field(after.status, "source");
  if (string_field(source, "name").value_or("none") == "none") {
    const std::string reason = name_text(source, "reason");
    return "no energy meter can be read" + (reason.empty() ? "" : ": " + reason);
  }
  if (string_field(before.status, "instanceId") != string_field(after.status, "instanceId"))
    return "keplerd has lost its totals during the run";
  if (run.attached && !before.row.is_object()) return "keplerd did not show the row at the beginning";
  if (measurement.lost) return "keplerd has dropped the row: what it used at its end is missing";
  if (!after.row.is_object() && run.attached) return "keplerd does not show the row any more";
  if (!after.row.is_object()) {
    const bool sees_all = field(after.status, "accounts").is_object();
    return sees_all ? "keplerd has no row for the unit of the command"
                    : "keplerd does not show the unit of the command to this user";
  }
  if (measurement.includes_idle && !measurement.places_idle)
    return "keplerd allocates no idle energy to workloads (Idle=separate)";
  if (may_lack_a_gap(run, measurement))
    return "keplerd was restarted during the run: what was used until it ran again may be missing";
  if (!covers(after.status, run.ended)) {
    return "keplerd took its last sample " + format_time(run.ended - time_of(after.status)) +
           " before the command ended";
  }
  return {};
}

Report begin(const CommandRun& run) {
  Report report;
  report.command = run.command;
  report.attached = run.attached;
  report.label = run.label;
  report.exit_status = run.exit_status;
  report.duration = run.ended - run.began;
  return report;
}

// The powers, where energy and time are large enough.
void add_power(Report& report, std::optional<Microwatts> peak) {
  if (!report.energy || !is_resolved(report) || report.duration < kShortestPowerSpan) return;
  report.mean_power = mean_power(*report.energy, report.duration);
  // A window that is longer than the run has a lower power.
  if (peak && *peak >= *report.mean_power) report.peak_power = peak;
}

}  // namespace

Json active_row(Json row) {
  subtract_idle(row, "energyMicrojoules", "idleMicrojoules");
  subtract_idle(row, "powerMicrowatts", "idleMicrowatts");
  if (const auto zones = row.find("zones"); zones != row.end())
    for (Json& zone : *zones) subtract_idle(zone, "energyMicrojoules", "idleMicrojoules");
  return row;
}

bool covers(const Json& status, microseconds time) { return time_of(status) >= time; }

bool is_resolved(const Report& report) { return report.energy && *report.energy >= report.resolution; }

Report unmeasured_report(const CommandRun& run, std::string problem) {
  Report report = begin(run);
  report.cpu = run.cpu;
  report.problem = std::move(problem);
  return report;
}

Report measured_report(const CommandRun& run, const Measurement& measurement) {
  const Reading &before = measurement.before, &after = measurement.after;
  Report report = begin(run);
  report.problem = problem_of(run, measurement);
  report.source = field(after.status, "source");
  if (!run.attached && !measurement.is_over) report.still_running = running_processes(measurement);
  if (string_field(before.status, "instanceId") != string_field(after.status, "instanceId")) return report;
  const Json& host_before = field(before.status, "host");
  const Json& host_after = field(after.status, "host");
  if (run.attached && !before.row.is_object()) return report;  // it has a past
  if (const auto cpu = increase(before.row, after.row, "cpuUsec")) report.cpu = microseconds(*cpu);
  if (string_field(report.source, "name").value_or("none") == "none") return report;

  report.resolution = resolution_of(before, after);
  report.energy = energy_increase(before.row, after.row, "energyMicrojoules");
  report.active = energy_increase(before.row, after.row, "activeMicrojoules");
  if (measurement.includes_idle) report.idle = energy_increase(before.row, after.row, "idleMicrojoules");
  // That of all that the row has used; idle energy has no known error.
  if (!run.attached && !measurement.includes_idle) report.error = energy_field(after.row, "errorMicrojoules");
  report.host_active = energy_increase(host_before, host_after, "activeMicrojoules");
  const microseconds span = time_of(after.status) - time_of(before.status);
  if (const auto idle = energy_increase(host_before, host_after, "idleMicrojoules"))
    report.host_idle = in_proportion(*idle, report.duration, span);
  report.zones = zone_parts(before.row, after.row);
  if (!run.attached) {
    report.programs = program_parts(measurement);
    report.other = rest_of(report.active, report.programs);
  }
  add_power(report, measurement.peak);
  return report;
}

}  // namespace keplerd::cli::run
