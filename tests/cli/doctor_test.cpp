// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/doctor_checks.h"
#include "cli/sample_facts.h"

namespace keplerd::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

DoctorFacts without_daemon(int code) {
  DoctorFacts facts = healthy();
  facts.status = Error{"/run/x: failed", code};
  return facts;
}

TEST(Doctor, AHealthyHostNeedsNothing) {
  EXPECT_EQ(checks_text(check_all(healthy()), false),
            "ok       daemon          answers at /run/keplerd/org.keplerd.Energy\n"
            "ok       source          powercap, measured\n"
            "ok       clock           the last sample is 300 ms old\n"
            "ok       windows         all were counted\n"
            "ok       cost            0.3 % of a CPU, one sample every 1.00 s\n"
            "ok       socket          /run/keplerd/org.keplerd.Energy 0666 root:keplerd\n"
            "ok       access          you are in the group keplerd, and see everything\n"
            "ok       configuration   valid: /etc/keplerd/keplerd.conf: the defaults\n"
            "ok       meter powercap  usable: powercap:package:0\n"
            "ok       other meters    none\n"
            "ok       totals          no zone is part of another\n"
            "ok       counters        1 of energy_uj, readable by you\n"
            "ok       cgroup2         at /sys/fs/cgroup\n"
            "ok       processes       /proc shows all of them\n"
            "ok       interrupts      accounted separately: their time is attributed to the kernel\n"
            "ok       libvirt         no VMs are running\n");
  EXPECT_EQ(verdict_text(check_all(healthy())), "Nothing is wrong.\n");
  EXPECT_EQ(status_of(healthy()), kFine);
}

TEST(Doctor, AHintIsInTheTextOnly) {
  DoctorFacts facts = healthy();
  (*facts.status)["discardedWindows"] = 3;
  facts.interrupts_apart = false;
  const std::string text = checks_text(check_all(facts), false);
  EXPECT_THAT(text, HasSubstr("  Hint: 'journalctl -u keplerd' shows when\n"));
  EXPECT_THAT(text, HasSubstr("  Hint: a kernel with CONFIG_IRQ_TIME_ACCOUNTING does\n"));
  EXPECT_EQ(check_of(facts, "windows").fix, "");
  EXPECT_THAT(checks_json(check_all(facts)).dump(), Not(HasSubstr("journalctl")));
}

TEST(Doctor, WhatKeplerdCannotDoNowIsAProblemAndSaysForHowLong) {
  DoctorFacts facts = healthy();
  const auto since = (facts.realtime - std::chrono::seconds(90)).count();
  (*facts.status)["problems"] = Json::array();
  (*facts.status)["problems"].push_back({{"kind", "zone"},
                                         {"object", "powercap:package:0"},
                                         {"what", "cannot be read: no such device"},
                                         {"sinceUsec", since}});
  (*facts.status)["problems"].push_back(
      {{"kind", "state"}, {"what", "totals cannot be saved"}, {"sinceUsec", since}});
  (*facts.status)["problems"].push_back(
      {{"kind", "libvirt"}, {"what", "is not installed"}, {"sinceUsec", since}});
  EXPECT_EQ(check_of(facts, "zone").found, "powercap:package:0 cannot be read: no such device, for 1min 30s");
  EXPECT_EQ(check_of(facts, "zone").state, CheckState::kProblem);
  EXPECT_EQ(check_of(facts, "state").state, CheckState::kProblem);
  EXPECT_EQ(check_of(facts, "libvirt").state, CheckState::kProblem);
  EXPECT_EQ(status_of(facts), kFailed);
  EXPECT_EQ(verdict_text(check_all(facts)), "3 problems, 0 warnings.\n");
}

TEST(Doctor, WhatHappenedInTheLastHourIsAProblemAndSaysWhen) {
  DoctorFacts facts = healthy();
  const auto since = (facts.realtime - std::chrono::seconds(90)).count();
  (*facts.status)["problems"] = Json::array();
  for (const char* const kind : {"windows", "clock"})
    (*facts.status)["problems"].push_back({{"kind", kind}, {"what", "it happened"}, {"sinceUsec", since}});
  const std::string text = checks_text(check_all(facts), false);
  EXPECT_THAT(text, HasSubstr("problem  windows         it happened (first 1min 30s ago)\n"));
  EXPECT_THAT(text, HasSubstr("problem  clock           it happened (first 1min 30s ago)\n"));
  EXPECT_EQ(status_of(facts), kFailed);
  EXPECT_EQ(verdict_text(check_all(facts)), "2 problems, 0 warnings.\n");
}

TEST(Doctor, ShowsWhoClaimedAnotherOwnersWorkload) {
  DoctorFacts facts = healthy();
  (*facts.status)["refusedClaims"] = {
      {{"kind", "vm"}, {"id", "2b9a43a1"}, {"ownerUid", 4801}, {"count", 3}, {"realtimeUsec", 1}},
      {{"kind", "helper"}, {"id", "7f1c"}, {"ownerUid", 0}, {"containerId", "b\x1bx"}, {"count", 1}}};
  const std::string text = checks_text(check_all(facts), false);
  EXPECT_THAT(text,
              HasSubstr("warning  claims          rejected a claim of user 4801 to vm 2b9a43a1, 3 times: "
                        "counted separately\n"));
  EXPECT_THAT(text,
              HasSubstr("warning  claims          rejected a claim of container b\\x1bx to help VM 7f1c, "
                        "once: counted separately\n"));
  EXPECT_EQ(status_of(facts), kFine);
}

TEST(Doctor, ADaemonThatCannotBeReachedIsTheWorst) {
  EXPECT_EQ(check_of(without_daemon(ENOENT), "daemon").fix, "systemctl enable --now keplerd");
  EXPECT_THAT(check_of(without_daemon(ECONNREFUSED), "daemon").fix, HasSubstr("systemctl restart keplerd"));
  EXPECT_THAT(check_of(without_daemon(EACCES), "daemon").fix, HasSubstr("usermod -aG keplerd"));
  EXPECT_THAT(check_of(without_daemon(0), "daemon").fix, HasSubstr("journalctl -u keplerd"));
  DoctorFacts facts = without_daemon(ENOENT);
  facts.meters.front().usable = false;
  EXPECT_EQ(status_of(facts), kFailed);
}

TEST(Doctor, ADaemonThatSamplesNoMoreIsAProblem) {
  DoctorFacts facts = healthy();
  facts.monotonic = std::chrono::seconds(5015);  // 15 s after it: two of UnwatchedInterval= and five
  EXPECT_EQ(check_of(facts, "clock").state, CheckState::kOk);
  facts.monotonic += std::chrono::seconds(1);
  EXPECT_EQ(check_of(facts, "clock").state, CheckState::kProblem);
  EXPECT_EQ(check_of(facts, "clock").found, "the last sample is 16.0 s old");
  (*facts.status)["intervalUsec"] = 0;
  EXPECT_EQ(check_of(facts, "clock").state, CheckState::kOk) << "on demand, every 30 s at the latest";
}

TEST(Doctor, ReportsAClockThatWasSet) {
  DoctorFacts facts = healthy();
  facts.realtime += std::chrono::hours(1);
  EXPECT_EQ(check_of(facts, "clock").found,
            "the last sample is 300 ms old; since then the time of day was set by 3600 s");
  facts.realtime = std::chrono::hours(24);
  EXPECT_EQ(check_of(facts, "clock").fix, "timedatectl set-ntp true");
}

TEST(Doctor, ReportsTheCostOfKeplerdItself) {
  DoctorFacts facts = healthy();
  EXPECT_EQ(check_of(facts, "cost").state, CheckState::kOk);
  EXPECT_EQ(check_of(facts, "cost").found, "0.3 % of a CPU, one sample every 1.00 s");
  (*facts.status)["windowUsec"] = 4'000'000;
  (*facts.status)["daemonWindowCpuUsec"] = 980'000;
  EXPECT_EQ(check_of(facts, "cost").state, CheckState::kWarning);
  EXPECT_EQ(
      check_of(facts, "cost").found,
      "24.5 % of a CPU, one sample every 4.00 s: very many processes or cgroups are active, or very many "
      "clients");
}

TEST(Doctor, ReportsGroupsThatAreLeftOut) {
  DoctorFacts facts = healthy();
  (*facts.status)["groupsLeftOut"] = 3;
  EXPECT_EQ(check_of(facts, "cgroup2").state, CheckState::kProblem);
  EXPECT_EQ(status_of(facts), kFailed);
  EXPECT_EQ(check_of(facts, "cgroup2").found,
            "3 cgroups have no rows, because there are too many or they are nested too deeply: they are "
            "counted in their parents");
}

TEST(Doctor, ReportsProcessesThatAreLeftOut) {
  DoctorFacts facts = healthy();
  (*facts.status)["processesLeftOut"] = 70'000;
  EXPECT_EQ(check_of(facts, "processes").state, CheckState::kProblem);
  EXPECT_EQ(status_of(facts), kFailed);
  EXPECT_EQ(check_of(facts, "processes").found,
            "70000 processes have no rows, because there are too many: they are counted in their units");
}

TEST(Doctor, ReportsWhoHasFullAccess) {
  DoctorFacts facts = healthy();
  facts.caller = {.group_exists = true, .is_root = true, .in_group = false};
  EXPECT_EQ(check_of(facts, "access").fix, "");
  facts.caller.group_exists = false;
  EXPECT_EQ(check_of(facts, "access").fix, "systemd-sysusers");
}

TEST(Doctor, ReportsLibvirtsRecords) {
  DoctorFacts facts = healthy();
  facts.libvirt = FileFacts{"run/libvirt/qemu", 0755, "root", "root", true};
  EXPECT_EQ(check_of(facts, "libvirt").found, "reads VMs from run/libvirt/qemu 0755 root:root");
}

TEST(Doctor, ExplainsHowToGetFullAccess) {
  DoctorFacts facts = healthy();
  facts.caller = {.group_exists = true, .is_root = false, .in_group = false};
  EXPECT_EQ(check_of(facts, "access").found, "you see everything") << "keplerd's own user";
  facts.status->erase("accounts");
  const Check check = check_of(facts, "access");
  EXPECT_EQ(check.state, CheckState::kOk);
  EXPECT_EQ(check.found, "you see what Public= allows for all users: keplerd.conf(5)");
  EXPECT_EQ(check.fix, "usermod -aG keplerd USER, and log in again, to see everything");
  EXPECT_EQ(status_of(facts), kFine);
  for (const Check& other : check_all(facts)) EXPECT_NE(other.name, "totals") << "the zones are not told";
}

TEST(Doctor, ReportsASocketWithoutPermission) {
  DoctorFacts facts = healthy();
  facts.socket->readable = false;
  EXPECT_THAT(check_of(facts, "socket").found, HasSubstr("you are not permitted to use it"));
  facts.socket.reset();
  EXPECT_EQ(check_of(facts, "socket").state, CheckState::kWarning);
}

TEST(Doctor, ReportsTheConfigurationInEffect) {
  DoctorFacts facts = healthy();
  facts.settings.energy.source = "perf";
  facts.settings.energy.zones = {"package", "dram"};
  facts.settings.workloads.terminated_max = std::nullopt;
  EXPECT_EQ(check_of(facts, "configuration").found,
            "valid: /etc/keplerd/keplerd.conf: Source=perf Zones=package dram TerminatedMax=infinity");
  facts.settings.sampling.interval = std::chrono::seconds(2);
  EXPECT_EQ(check_of(facts, "configuration").state, CheckState::kWarning);
  EXPECT_THAT(check_of(facts, "configuration").fix, HasSubstr("systemctl reload keplerd"));
}

TEST(Doctor, ABadConfigurationIsAProblem) {
  DoctorFacts facts = healthy();
  facts.config_error = "/etc/keplerd/keplerd.conf:3: unknown key";
  EXPECT_EQ(check_of(facts, "configuration").found, "/etc/keplerd/keplerd.conf:3: unknown key");
  EXPECT_EQ(status_of(facts), kFailed);
  facts = healthy();
  facts.config_files.clear();
  EXPECT_EQ(check_of(facts, "configuration").found, "none: the defaults are in effect");
}

TEST(Doctor, HiddenProcessesAndMissingCgroupsAreWarnings) {
  DoctorFacts facts = healthy();
  facts.proc.hidepid = "2";
  EXPECT_EQ(check_of(facts, "processes").state, CheckState::kWarning);
  facts.proc.gid = "998";
  EXPECT_EQ(check_of(facts, "processes").state, CheckState::kOk);
  facts.cgroup2.reset();
  EXPECT_EQ(check_of(facts, "cgroup2").state, CheckState::kWarning);
  EXPECT_EQ(status_of(facts), kFine);
  facts.interrupts_apart = false;
  EXPECT_THAT(check_of(facts, "interrupts").found, HasSubstr("the interrupted process"));
}

TEST(Doctor, WithoutAHostOnlyTheDaemonIsChecked) {
  DoctorFacts facts = healthy();
  facts.host_error = "/x: No such file or directory";
  EXPECT_EQ(check_of(facts, "host").state, CheckState::kProblem);
  EXPECT_EQ(check_all(facts).size(), 9u);
}

TEST(Doctor, AFixStandsBelowWhatWasFound) {
  const std::vector<Check> checks = {{"a", CheckState::kProblem, "broken", "mend it"},
                                     {"longer", CheckState::kOk, "fine", ""}};
  EXPECT_EQ(checks_text(checks, false),
            "problem  a       broken\n"
            "                 Fix: mend it\n"
            "ok       longer  fine\n");
  EXPECT_THAT(checks_text(checks, true), HasSubstr("\033[1;31mproblem\033[0m  a"));
}

TEST(Doctor, AsJsonEveryCheckHasItsFourFields) {
  const std::vector<Check> checks = {{"a", CheckState::kProblem, "broken", "mend it"},
                                     {"b", CheckState::kWarning, "fine", ""}};
  EXPECT_EQ(checks_json(checks).dump(),
            R"({"checks":[{"name":"a","state":"problem","found":"broken","fix":"mend it"},)"
            R"({"name":"b","state":"warning","found":"fine","fix":null}]})");
}

TEST(ProcMount, HidepidIsFoundInTheMountsOwnOptions) {
  EXPECT_EQ(
      parse_proc_mount("22 28 0:21 / /proc rw,relatime shared:5 - proc proc rw,hidepid=invisible,gid=4\n"),
      (ProcMount{"invisible", "4"}));
  EXPECT_EQ(parse_proc_mount("22 28 0:21 / /proc rw - proc proc rw,hidepid=off\n"), ProcMount{});
  EXPECT_EQ(parse_proc_mount("22 28 0:21 / /proc rw - proc proc rw\n"), ProcMount{});
  EXPECT_EQ(parse_proc_mount("22 28 0:21 / /srv/proc rw - proc proc rw,hidepid=2\n"), ProcMount{});
  EXPECT_EQ(parse_proc_mount("22 28 0:21 / /proc rw - proc proc rw,hidepid=2\n"
                             "30 22 0:40 / /proc rw - proc proc rw\n"),
            ProcMount{});
  EXPECT_EQ(parse_proc_mount("garbage\n\n - \n - proc"), ProcMount{});
}

}  // namespace
}  // namespace keplerd::cli
