// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/host.h"

#include <fmt/format.h>

#include "cli/fields.h"

namespace keplerd::cli {
namespace {

using enum CheckState;

constexpr mode_t kOthersMayRead = 0004;

std::string file_text(const FileFacts& file) {
  return fmt::format("{} {:04o} {}:{}", printable(file.path), file.mode, file.owner, file.group);
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

std::int64_t left_out_of(const DoctorFacts& facts, const char* field) {
  return answers(facts) ? integer_field(*facts.status, field).value_or(0) : 0;
}

Check check_cgroup2(const DoctorFacts& facts) {
  const auto left_out = left_out_of(facts, "groupsLeftOut");
  if (facts.cgroup2 && left_out > 0) {
    return {"cgroup2", kProblem,
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

Check check_processes(const DoctorFacts& facts) {
  if (const auto left_out = left_out_of(facts, "processesLeftOut"); left_out > 0) {
    return {
        "processes", kProblem,
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

Check check_interrupts(const DoctorFacts& facts) {
  return {
      "interrupts", kOk,
      facts.interrupts_apart
          ? "accounted separately: their time is attributed to the kernel"
          : "not accounted separately by this kernel: their time is attributed to the interrupted process",
      "", facts.interrupts_apart ? "" : "a kernel with CONFIG_IRQ_TIME_ACCOUNTING does"};
}

}  // namespace

Check check_socket(const DoctorFacts& facts) {
  if (!facts.socket) {
    return {"socket", kWarning, printable(facts.address) + " does not exist, or is not visible to you", ""};
  }
  const FileFacts& socket = *facts.socket;
  if (!socket.readable)
    return {"socket", kWarning, file_text(socket) + ": you are not permitted to use it", ""};
  return {"socket", kOk, file_text(socket), ""};
}

std::vector<Check> check_host(const DoctorFacts& facts) {
  std::vector<Check> checks;
  for (const auto check : {check_counters, check_cgroup2, check_processes, check_interrupts, check_libvirt})
    checks.push_back(check(facts));
  return checks;
}

}  // namespace keplerd::cli
