// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/checks.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fmt/format.h>

#include "base/problem_kind.h"
#include "cli/doctor/meters.h"
#include "cli/doctor/models.h"
#include "cli/doctor/totals.h"
#include "cli/fields.h"
#include "cli/output/human.h"
#include "cli/screens.h"
#include "config/settings_table.h"

namespace keplerd::cli {
namespace {

using enum CheckState;

constexpr mode_t kOthersMayRead = 0004;

std::string file_text(const FileFacts& file) {
  return fmt::format("{} {:04o} {}:{}", printable(file.path), file.mode, file.owner, file.group);
}

Check check_daemon(const DoctorFacts& facts) {
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
  const std::string found =
      name + (quality.empty() ? "" : ", " + quality) + (reason.empty() ? "" : ": " + reason);
  if (name == "guest" && quality == "attributed") {
    return {"source", kOk, found + ": the host's share for this virtual machine", ""};
  }
  if (is_measured(facts)) return {"source", reason.empty() ? kOk : kWarning, found, ""};
  if (quality == "simulated" || quality == "estimated") {
    return {
        "source", kWarning, found + ": the numbers are not measured",
        "set Source=auto in keplerd.conf, and start keplerd without --source, to use a meter of this host"};
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

Check check_socket(const DoctorFacts& facts) {
  if (!facts.socket) {
    return {"socket", kWarning, printable(facts.address) + " does not exist, or is not visible to you", ""};
  }
  const FileFacts& socket = *facts.socket;
  if (!socket.readable)
    return {"socket", kWarning, file_text(socket) + ": you are not permitted to use it", ""};
  return {"socket", kOk, file_text(socket), ""};
}

Check check_counters(const DoctorFacts& facts) {
  if (facts.counters.empty()) return {"counters", kOk, "no energy_uj files", ""};
  for (const FileFacts& counter : facts.counters) {
    if ((counter.mode & kOthersMayRead) == 0) continue;
    return {"counters", kWarning,
            file_text(counter) + ": any user can use it to spy on others (CVE-2020-8694)",
            "chmod 0400 " + printable(counter.path)};
  }
  return {"counters", kOk,
          fmt::format(
              "{} of energy_uj, {}", facts.counters.size(),
              facts.counters.front().readable ? "readable by you" : "not readable by you, as it should be"),
          ""};
}

struct ProblemCheck {
  CheckState state = kProblem;
  const char* fix = "";
};

// Unset if another check reports it. A kind added in a later keplerd describes itself.
std::optional<ProblemCheck> check_of(std::string_view kind) {
  const auto known = find_problem_kind(kind);
  if (!known) return ProblemCheck{};
  switch (*known) {
    case ProblemKind::kZone:
      return ProblemCheck{kProblem, "see 'journalctl -u keplerd' and the meters below"};
    case ProblemKind::kPower:
      return ProblemCheck{kProblem, "see the zones"};
    case ProblemKind::kState:
      return ProblemCheck{
          kProblem, "free disk space, or remount the file system writable; see 'journalctl -u keplerd'"};
    case ProblemKind::kLibvirt:
      return ProblemCheck{kWarning, "install the package keplerd-libvirt"};
    case ProblemKind::kSource:
    case ProblemKind::kCgroups:
    case ProblemKind::kProcesses:
      break;
  }
  return std::nullopt;
}

// The problems that keplerd itself reports.
std::vector<Check> check_problems(const DoctorFacts& facts) {
  std::vector<Check> checks;
  for (const Json& problem : client::elements(field(*facts.status, "problems"))) {
    const std::string kind = name_text(problem, "kind"), object = name_text(problem, "object");
    const auto check = check_of(kind);
    if (!check) continue;
    const auto since = integer_field(problem, "sinceUsec");
    const std::chrono::microseconds age = facts.realtime - std::chrono::microseconds(since.value_or(0));
    checks.push_back({kind, check->state,
                      (object.empty() ? "" : object + " ") + name_text(problem, "what") +
                          (since ? ", for " + format_time(std::max(age, age.zero())) : ""),
                      check->fix});
  }
  return checks;
}

Check check_discarded(const DoctorFacts& facts) {
  const auto count = integer_field(*facts.status, "discardedWindows").value_or(0);
  if (count == 0) return {"windows", kOk, "all were counted", ""};
  return {"windows", kOk, fmt::format("{} not counted: implausible energy, counter reset, or suspend", count),
          "", "'journalctl -u keplerd' shows when"};
}

std::int64_t left_out_of(const DoctorFacts& facts, const char* field) {
  return answers(facts) ? integer_field(*facts.status, field).value_or(0) : 0;
}

Check check_cgroup2(const DoctorFacts& facts) {
  const auto left_out = left_out_of(facts, "groupsLeftOut");
  if (facts.cgroup2 && left_out > 0) {
    return {"cgroup2", kWarning,
            fmt::format("{} cgroups have no rows, because there are too many or they are nested too deeply: "
                        "they are counted in their parents",
                        left_out),
            "see systemd-cgls"};
  }
  if (facts.cgroup2 && !facts.has_cgroups) {
    const bool is_hybrid = facts.cgroup2->ends_with("/unified");
    return {
        "cgroup2", kWarning,
        printable(*facts.cgroup2) + " contains no cgroups: energy is divided among processes only, not units",
        is_hybrid ? "boot with systemd.unified_cgroup_hierarchy=1: this host uses cgroup v1"
                  : "run keplerd where the cgroups of systemd or a container runtime are visible"};
  }
  if (facts.cgroup2) return {"cgroup2", kOk, "at " + printable(*facts.cgroup2), ""};
  return {"cgroup2", kWarning, "not mounted: energy is divided among processes only, not units",
          "boot with systemd.unified_cgroup_hierarchy=1"};
}

// "Interval=2s Zones=package": the settings that differ from the defaults.
std::string changed_settings(const Settings& settings) {
  const auto defaults = describe_settings({});
  const auto effective = describe_settings(settings);
  std::string out;
  for (std::size_t i = 0; i < effective.size(); ++i) {
    if (effective[i] == defaults[i]) continue;
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", effective[i].key, printable(effective[i].value));
  }
  return out;
}

// Whether the host's daemon runs with the files' present contents; --interval overrides them.
bool is_in_effect(const DoctorFacts& facts) {
  if (!answers(facts) || facts.address != kDefaultAddress) return true;
  const auto running = integer_field(*facts.status, "intervalUsec");
  return !running || std::chrono::microseconds(*running) == facts.settings.sampling.interval;
}

Check check_configuration(const DoctorFacts& facts) {
  if (facts.config_error) {
    return {"configuration", kProblem, printable(*facts.config_error),
            "correct it, and check the result with keplerd --check-config"};
  }
  std::string files;
  for (const std::string& file : facts.config_files) files += (files.empty() ? "" : ", ") + printable(file);
  if (!is_in_effect(facts)) {
    return {"configuration", kWarning, "keplerd uses another Interval= than its configuration files specify",
            "systemctl reload keplerd, unless it was started with --interval"};
  }
  if (files.empty()) return {"configuration", kOk, "none: the defaults are in effect", ""};
  const std::string changed = changed_settings(facts.settings);
  return {"configuration", kOk, "valid: " + files + (changed.empty() ? ": the defaults" : ": " + changed),
          ""};
}

Check check_processes(const DoctorFacts& facts) {
  if (const auto left_out = left_out_of(facts, "processesLeftOut"); left_out > 0) {
    return {
        "processes", kWarning,
        fmt::format("{} processes have no rows, because there are too many: they are counted in their units",
                    left_out),
        "see systemd-cgtop --order=tasks"};
  }
  if (facts.proc.hidepid.empty()) return {"processes", kOk, "/proc shows all of them", ""};
  const std::string found = "/proc is mounted with hidepid=" + printable(facts.proc.hidepid);
  if (!facts.proc.gid.empty()) {
    return {"processes", kOk, found + ", group " + printable(facts.proc.gid) + " sees all", ""};
  }
  return {"processes", kWarning, found + ": keplerd cannot see processes of other users",
          "mount -o remount,gid=keplerd /proc, and the same in /etc/fstab"};
}

Check check_libvirt(const DoctorFacts& facts) {
  if (!facts.libvirt) return {"libvirt", kOk, "no VMs are running", ""};
  return {"libvirt", kOk, "reads VMs from " + file_text(*facts.libvirt), ""};
}

Check check_access(const DoctorFacts& facts) {
  const Caller& caller = facts.caller;
  if (!caller.group_exists) {
    return {"access", kWarning, "there is no group keplerd: only root sees everything", "systemd-sysusers"};
  }
  if (caller.is_root) return {"access", kOk, "you are root, and see everything", ""};
  if (caller.in_group) return {"access", kOk, "you are in the group keplerd, and see everything", ""};
  if (answers(facts) && sees_everything(*facts.status)) return {"access", kOk, "you see everything", ""};
  return {"access", kOk, "you see what Public= allows for all users: keplerd.conf(5)",
          "usermod -aG keplerd USER, and log in again, to see everything"};
}

// Refused claims to other owners' containers, pods or VMs; nothing if there are none.
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

Check check_interrupts(const DoctorFacts& facts) {
  return {
      "interrupts", kOk,
      facts.interrupts_apart
          ? "accounted separately: their time is attributed to the kernel"
          : "not accounted separately by this kernel: their time is attributed to the interrupted process",
      "", facts.interrupts_apart ? "" : "a kernel with CONFIG_IRQ_TIME_ACCOUNTING does"};
}

}  // namespace

bool answers(const DoctorFacts& facts) { return facts.status.ok(); }

bool is_measured(const DoctorFacts& facts) {
  if (!answers(facts)) return false;
  const std::string quality = name_text(field(*facts.status, "source"), "quality");
  return quality == "measured" || quality == "modelled" || quality == "attributed";
}

std::vector<Check> check_all(const DoctorFacts& facts) {
  std::vector<Check> checks = {check_daemon(facts)};
  if (answers(facts)) {
    for (const auto check : {check_source, check_clock, check_discarded}) checks.push_back(check(facts));
    for (Check& check : check_problems(facts)) checks.push_back(std::move(check));
    checks.push_back(check_cost(facts));
    for (Check& check : check_models(facts)) checks.push_back(std::move(check));
  }
  checks.push_back(check_socket(facts));
  checks.push_back(check_access(facts));
  checks.push_back(check_configuration(facts));
  if (facts.host_error) {
    checks.push_back({"host", kProblem, printable(*facts.host_error), "mount it, or specify its location"});
    return checks;
  }
  for (Check& check : check_meters(facts)) checks.push_back(std::move(check));
  if (answers(facts) && sees_everything(*facts.status)) checks.push_back(check_totals(facts.zones));
  for (const auto check : {check_counters, check_cgroup2, check_processes, check_interrupts, check_libvirt}) {
    checks.push_back(check(facts));
  }
  if (answers(facts)) {
    for (Check& check : check_claims(facts)) checks.push_back(std::move(check));
  }
  return checks;
}

ExitStatus doctor_status(const DoctorFacts& facts, const std::vector<Check>& checks) {
  if (!answers(facts)) return kFailed;
  if (!is_measured(facts)) return kNotMeasured;
  const bool any_problem =
      std::any_of(checks.begin(), checks.end(), [](const Check& check) { return check.state == kProblem; });
  return any_problem ? kFailed : kFine;
}

}  // namespace keplerd::cli
