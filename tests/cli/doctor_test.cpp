// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/doctor/checks.h"
#include "cli/fake_daemon.h"
#include "support/fake_host.h"

namespace keplerd::cli {
namespace {

using testing::HasSubstr;

// A host on which all is well.
DoctorFacts healthy() {
  DoctorFacts facts;
  facts.address = "/run/keplerd/org.keplerd.Energy";
  facts.status = measured_status();
  facts.socket = FileFacts{facts.address, 0660, "root", "keplerd", true};
  facts.meters = {{"powercap", true, "", ""}, {"simulated", true, "", ""}};
  facts.counters = {{"/sys/class/powercap/intel-rapl:0/energy_uj", 0400, "root", "root", true}};
  facts.cgroup2 = "/sys/fs/cgroup";
  facts.interrupts_apart = true;
  facts.config_files = {"/etc/keplerd/keplerd.conf"};
  return facts;
}

Check check_of(const DoctorFacts& facts, std::string_view name) {
  const auto checks = check_all(facts);
  const auto found =
      std::find_if(checks.begin(), checks.end(), [&](const Check& c) { return c.name == name; });
  if (found != checks.end()) return *found;
  ADD_FAILURE() << "no check " << name;
  return {};
}

ExitStatus status_of(const DoctorFacts& facts) { return doctor_status(facts, check_all(facts)); }

DoctorFacts without_daemon(int code) {
  DoctorFacts facts = healthy();
  facts.status = Error{"/run/x: failed", code};
  return facts;
}

TEST(Doctor, AHealthyHostNeedsNothing) {
  EXPECT_EQ(checks_text(check_all(healthy()), false),
            "ok       daemon          answers at /run/keplerd/org.keplerd.Energy\n"
            "ok       source          powercap, measured\n"
            "ok       socket          /run/keplerd/org.keplerd.Energy 0660 root:keplerd\n"
            "ok       configuration   valid: /etc/keplerd/keplerd.conf: the defaults\n"
            "ok       meter powercap  usable\n"
            "ok       counters        1 of energy_uj, readable by you\n"
            "ok       cgroup2         at /sys/fs/cgroup\n"
            "ok       processes       /proc shows all of them\n"
            "ok       interrupts      accounted apart: they count for the kernel\n");
  EXPECT_EQ(status_of(healthy()), kFine);
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

TEST(Doctor, WhatIsNotMeasuredHasItsOwnStatus) {
  DoctorFacts facts = healthy();
  facts.status = simulated_status();
  EXPECT_EQ(check_of(facts, "source").state, CheckState::kWarning);
  EXPECT_EQ(check_of(facts, "source").found, "simulated, simulated: the numbers are not measured");
  EXPECT_EQ(status_of(facts), kNotMeasured);
  (*facts.status)["source"]["quality"] = "estimated";
  EXPECT_EQ(status_of(facts), kNotMeasured);
  (*facts.status)["source"]["quality"] = "modelled";
  EXPECT_EQ(status_of(facts), kFine);
  facts.status = unmeasured_status();
  EXPECT_EQ(check_of(facts, "source").state, CheckState::kProblem);
  EXPECT_EQ(check_of(facts, "source").found, "none: powercap: no zones in /sys/class/powercap");
  EXPECT_EQ(status_of(facts), kNotMeasured);
}

TEST(Doctor, TheHostsShareIsAMeterAndSaysSo) {
  DoctorFacts facts = healthy();
  (*facts.status)["source"] = {{"name", "guest"}, {"quality", "attributed"}};
  EXPECT_EQ(check_of(facts, "source").state, CheckState::kOk);
  EXPECT_EQ(check_of(facts, "source").found, "guest, attributed: the host's share for this virtual machine");
  EXPECT_EQ(status_of(facts), kFine);
  (*facts.status)["source"]["quality"] = "simulated";
  EXPECT_EQ(status_of(facts), kNotMeasured);
}

TEST(Doctor, AMeterIsAProblemOnlyWhereNoneWorks) {
  DoctorFacts facts = healthy();
  facts.meters = {{"perf", false, "no events", "modprobe x"}, {"powercap", false, "no zones", "modprobe y"}};
  EXPECT_EQ(check_of(facts, "meter perf").found, "no events (for you; keplerd reads its meter)");
  EXPECT_EQ(check_of(facts, "meter perf").state, CheckState::kOk);

  facts.status = unmeasured_status();
  EXPECT_EQ(check_of(facts, "meter powercap").state, CheckState::kProblem);
  EXPECT_EQ(check_of(facts, "meter powercap").found, "no zones");
  EXPECT_EQ(check_of(facts, "meter powercap").fix, "modprobe y");

  facts.meters.front().usable = true;
  EXPECT_EQ(check_of(facts, "meter powercap").state, CheckState::kOk);
  EXPECT_EQ(check_of(facts, "meter powercap").found, "no zones (not needed: another meter works)");
}

TEST(Doctor, ASimulatedSourceIsNoMeter) {
  DoctorFacts facts = healthy();
  facts.status = unmeasured_status();
  facts.meters = {{"powercap", false, "no zones", ""}, {"simulated", true, "", ""}};
  EXPECT_EQ(check_of(facts, "meter powercap").state, CheckState::kProblem);
  for (const Check& check : check_all(facts)) EXPECT_NE(check.name, "meter simulated");
}

TEST(Doctor, CountersThatEverybodyReadsAreAHole) {
  DoctorFacts facts = healthy();
  facts.counters[0].mode = 0444;
  const Check check = check_of(facts, "counters");
  EXPECT_EQ(check.state, CheckState::kWarning);
  EXPECT_EQ(check.fix, "chmod 0400 /sys/class/powercap/intel-rapl:0/energy_uj");
  facts.counters.clear();
  EXPECT_EQ(check_of(facts, "counters").state, CheckState::kOk);
}

TEST(Doctor, TheSocketIsForItsGroup) {
  DoctorFacts facts = healthy();
  facts.socket->mode = 0666;
  EXPECT_THAT(check_of(facts, "socket").fix, HasSubstr("SocketMode=0660"));
  facts.socket->mode = 0660;
  facts.socket->readable = false;
  EXPECT_THAT(check_of(facts, "socket").found, HasSubstr("you may not use it"));
  facts.socket.reset();
  EXPECT_EQ(check_of(facts, "socket").state, CheckState::kWarning);
}

TEST(Doctor, TheConfigurationInEffectIsTold) {
  DoctorFacts facts = healthy();
  facts.settings.source = "perf";
  facts.settings.zones = {"package", "dram"};
  facts.settings.terminated_max = std::nullopt;
  EXPECT_EQ(check_of(facts, "configuration").found,
            "valid: /etc/keplerd/keplerd.conf: Source=perf Zones=package dram TerminatedMax=infinity");
  facts.settings.interval = std::chrono::seconds(2);
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
  EXPECT_THAT(check_of(facts, "interrupts").found, HasSubstr("for whom they interrupt"));
}

TEST(Doctor, WithoutAHostOnlyTheDaemonIsTold) {
  DoctorFacts facts = healthy();
  facts.host_error = "/x: No such file or directory";
  EXPECT_EQ(check_of(facts, "host").state, CheckState::kProblem);
  EXPECT_EQ(check_all(facts).size(), 5u);
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

class DoctorProgram : public testing::Test {
 protected:
  Outcome run(std::vector<std::string> arguments) {
    const HostPaths paths = host_.paths();
    arguments.insert(arguments.begin(), {"doctor", "--sysfs=" + paths.sysfs, "--procfs=" + paths.procfs});
    if (paths.cgroupfs) arguments.push_back("--cgroupfs=" + *paths.cgroupfs);
    return run_keplerctl(arguments);
  }

  FakeHost host_;
};

TEST_F(DoctorProgram, WorksWithoutADaemon) {
  const Outcome outcome = run({"--varlink=/nonexistent/socket"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, HasSubstr("Fix: systemctl enable --now keplerd\n"));
  EXPECT_THAT(outcome.out, HasSubstr("problem  meter powercap"));
}

TEST_F(DoctorProgram, SeesTheCountersOfTheHostItIsGiven) {
  host_.add_powercap_zone({.dir = "intel-rapl:0", .name = "package-0", .energy = 5});
  const FakeDaemon daemon;
  const Outcome outcome = run({"--varlink=" + daemon.address()});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, HasSubstr("meter powercap  usable\n"));
  EXPECT_THAT(outcome.out, HasSubstr("counters        1 of energy_uj"));
  EXPECT_THAT(outcome.out, HasSubstr("\nHost 42.3 W (powercap, measured)"));
}

TEST_F(DoctorProgram, ASimulatedDaemonIsNotMeasured) {
  Canned canned;
  canned.statuses = {simulated_status()};
  const FakeDaemon daemon(canned);
  const Outcome outcome = run({"-j", "--varlink=" + daemon.address()});
  EXPECT_EQ(outcome.status, 4);
  const Json reply = Json::parse(outcome.out);
  ASSERT_TRUE(reply.at("checks").is_array());
  EXPECT_EQ(reply.at("checks").at(0).at("state"), "ok");
}

}  // namespace
}  // namespace keplerd::cli
