// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/daemon.h"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "base/problem_kind.h"
#include "cli/fields.h"
#include "cli/output/human.h"
#include "cli/screens.h"

namespace keplerd::cli {
namespace {

using enum CheckState;

Check check_answer(const DoctorFacts& facts) {
  if (answers(facts)) return {"daemon", kOk, "answers at " + printable(facts.address), ""};
  const Error& error = facts.status.error();
  std::string fix = "see 'systemctl status keplerd' and 'journalctl -u keplerd'";
  if (error.code == ENOENT) fix = "systemctl enable --now keplerd";
  if (error.code == ECONNREFUSED)
    fix = "systemctl restart keplerd; 'journalctl -u keplerd' shows why it stopped";
  if (error.code == EACCES) {
    fix = "run keplerctl as root, or join the group keplerd: usermod -aG keplerd USER, and log in again";
  }
  return {"daemon", kProblem, printable(error.message), fix};
}

Check check_source(const DoctorFacts& facts) {
  const Json& source = field(*facts.status, "source");
  const std::string name = name_text(source, "name");
  const std::string quality = name_text(source, "quality");
  const std::string reason = name_text(source, "reason");
  const std::string found = name + (quality.empty() || quality == name ? "" : ", " + quality) +
                            (reason.empty() ? "" : ": " + reason);
  if (name == "guest" && quality == "attributed") {
    return {"source", kOk, found + ": the host's share for this virtual machine", ""};
  }
  if (is_measured(facts)) return {"source", reason.empty() ? kOk : kWarning, found, ""};
  if (quality == "simulated" || quality == "estimated") {
    const std::string by_meter =
        "set Source=auto in keplerd.conf, and start keplerd without --source, to use a meter of this host";
    const bool is_typical = quality == "estimated" && !reason.empty();
    return {"source", kWarning, found + "; the numbers are not measured",
            is_typical ? "set IdleWatts= and MaxWatts= in keplerd.conf to values of this host; or " + by_meter
                       : by_meter};
  }
  return {"source", kProblem, found, "see the meters below", "", "none: no energy meter can be read"};
}

// Whether the daemon is still sampling, and whether the clocks are plausible.
Check check_clock(const DoctorFacts& facts) {
  const Json& status = *facts.status;
  const auto monotonic = integer_field(status, "monotonicUsec");
  const auto realtime = integer_field(status, "realtimeUsec");
  if (!monotonic || !realtime)
    return {"clock", kWarning, "keplerd does not report the time of its last sample", ""};
  using std::chrono::microseconds;
  const microseconds age = facts.monotonic - microseconds(*monotonic);
  const microseconds stepped = facts.realtime - microseconds(*realtime) - age;
  // Without an interval, and with a meter that moves in steps, samples come at least this often; otherwise at
  // least at the rate used while nobody is there.
  constexpr microseconds kSeldom = std::chrono::seconds(30);
  microseconds interval(integer_field(status, "intervalUsec").value_or(0));
  if (interval.count() == 0 || name_text(field(status, "source"), "name") == "guest") interval = kSeldom;
  interval = std::max(interval, std::chrono::ceil<microseconds>(facts.settings.sampling.unwatched_interval));
  if (age > 2 * interval + std::chrono::seconds(5)) {
    return {"clock", kProblem, "the last sample is " + format_time(age) + " old",
            "systemctl restart keplerd; 'journalctl -u keplerd' shows why it stopped"};
  }
  constexpr microseconds kBuilt = std::chrono::hours(24 * 365 * 50);  // no host runs before 2020
  if (facts.realtime < kBuilt) {
    return {"clock", kWarning, "the time of day is not set", "timedatectl set-ntp true"};
  }
  std::string found = "the last sample is " + format_time(std::max(age, microseconds(0))) + " old";
  if (stepped > std::chrono::seconds(1) || stepped < -std::chrono::seconds(1)) {
    found += fmt::format("; since then the time of day was set by {} s", stepped / std::chrono::seconds(1));
  }
  return {"clock", kOk, found, ""};
}

// keplerd's own CPU usage, which is low except when there is a flood to sample.
Check check_cost(const DoctorFacts& facts) {
  const auto percent = own_cpu_percent(*facts.status);
  if (!percent) return {"cost", kOk, "not known yet", ""};
  const std::string found =
      fmt::format("{:.1f} % of a CPU, one sample every {}", *percent, time_text(*facts.status, "windowUsec"));
  constexpr double kMuch = 20;  // samples alone take a quarter at most
  if (*percent < kMuch) return {"cost", kOk, found, ""};
  return {"cost", kWarning, found + ": very many processes or cgroups are active, or very many clients",
          "systemd-cgtop --order=tasks, systemd-cgls"};
}

// What to do about a problem of this kind. Unset if another check reports it. A kind added in a later keplerd
// describes itself.
std::optional<const char*> fix_of(std::string_view kind) {
  const auto known = find_problem_kind(kind);
  if (!known) return "";
  switch (*known) {
    case ProblemKind::kZone:
      return "see 'journalctl -u keplerd' and the meters below";
    case ProblemKind::kPower:
      return "see the zones";
    case ProblemKind::kState:
      return "free disk space, or remount the file system writable; see 'journalctl -u keplerd'";
    case ProblemKind::kLibvirt:
      return "install the package keplerd-libvirt";
    case ProblemKind::kWindows:
      return "'journalctl -u keplerd' shows when and why; nothing is to be done if it does not recur";
    case ProblemKind::kClock:
      return "'timedatectl timesync-status' shows what sets the clock; nothing is to be done if it does not "
             "recur";
    case ProblemKind::kPlatform:
      return "check the unit of that meter and what it covers; Zones= in keplerd.conf leaves it out";
    case ProblemKind::kSource:
    case ProblemKind::kCgroups:
    case ProblemKind::kProcesses:
      break;
  }
  return std::nullopt;
}

// How long it has existed; of what happened at one moment, when that was.
std::string since_text(std::string_view kind, std::chrono::microseconds age) {
  const auto known = find_problem_kind(kind);
  const bool is_event = known == ProblemKind::kWindows || known == ProblemKind::kClock;
  const std::string time = format_time(std::max(age, age.zero()));
  return is_event ? fmt::format(" (first {} ago)", time) : ", for " + time;
}

// The problems that keplerd itself reports.
std::vector<Check> check_problems(const DoctorFacts& facts) {
  std::vector<Check> checks;
  for (const Json& problem : client::elements(field(*facts.status, "problems"))) {
    const std::string kind = name_text(problem, "kind"), object = name_text(problem, "object");
    const auto fix = fix_of(kind);
    if (!fix) continue;
    const auto since = integer_field(problem, "sinceUsec");
    const std::chrono::microseconds age = facts.realtime - std::chrono::microseconds(since.value_or(0));
    checks.push_back({kind, kProblem,
                      (object.empty() ? "" : object + " ") + name_text(problem, "what") +
                          (since ? since_text(kind, age) : ""),
                      *fix});
  }
  return checks;
}

// Of all time. Those of the last hour are a problem as well.
Check check_discarded(const DoctorFacts& facts) {
  const auto count = integer_field(*facts.status, "discardedWindows").value_or(0);
  if (count == 0) return {"windows", kOk, "all were counted", ""};
  return {"windows", kOk, fmt::format("{} not counted: implausible energy, counter reset, or suspend", count),
          "", "'journalctl -u keplerd' shows when"};
}

}  // namespace

std::vector<Check> check_daemon(const DoctorFacts& facts) {
  std::vector<Check> checks = {check_answer(facts)};
  if (!answers(facts)) return checks;
  for (const auto check : {check_source, check_clock, check_discarded}) checks.push_back(check(facts));
  for (Check& check : check_problems(facts)) checks.push_back(std::move(check));
  checks.push_back(check_cost(facts));
  return checks;
}

std::vector<Check> check_claims(const DoctorFacts& facts) {
  constexpr std::size_t kMost = 10;
  std::vector<Check> checks;
  const Json& claims = field(*facts.status, "refusedClaims");
  for (const Json& claim : claims.is_array() ? claims : Json::array()) {
    if (checks.size() == kMost) break;
    const std::string container = name_text(claim, "containerId");
    const std::string kind = name_text(claim, "kind"), id = name_text(claim, "id");
    const std::string who = container.empty()
                                ? fmt::format("user {}", integer_field(claim, "ownerUid").value_or(0))
                                : "container " + container;
    const std::string what = kind == "helper" ? "to help VM " + id : "to " + kind + " " + id;
    const std::int64_t count = integer_field(claim, "count").value_or(0);
    checks.push_back({"claims", kWarning,
                      fmt::format("rejected a claim of {} {}, {}: counted separately", who, what,
                                  count == 1 ? "once" : fmt::format("{} times", count)),
                      ""});
  }
  return checks;
}

}  // namespace keplerd::cli
