// SPDX-License-Identifier: Apache-2.0
// Whole command lines against a daemon with canned replies.
#include "cli/program.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/fake_daemon.h"

namespace keplerd::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Program, AUsageErrorPrintsThatErrorAlone) {
  const Outcome outcome = run_keplerctl({"foo"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "keplerctl: unknown verb 'foo'\n");
}

TEST(Program, HelpGoesToStandardOutput) {
  const Outcome outcome = run_keplerctl({"--help"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, HasSubstr("doctor"));
  EXPECT_EQ(outcome.err, "");
}

TEST(Program, WithoutADaemonItFailsAndSaysWhereHelpIs) {
  for (const char* verb : {"status", "units", "monitor"}) {
    const Outcome outcome = run_keplerctl({verb, "--varlink=/nonexistent/socket"});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("/nonexistent/socket"));
    EXPECT_THAT(outcome.err, HasSubstr("(run 'keplerctl doctor' for details)\n"));
  }
}

TEST(Program, StatusAsJsonIsTheDaemonsReplyWithNulls) {
  Canned canned;
  canned.statuses.front()["host"]["energyMicrojoules"] = kBeyondDouble;
  const FakeDaemon daemon(canned);
  const Outcome outcome = run_keplerctl(daemon, {"--json=short", "status"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(
      outcome.out,
      R"({"host":{"energyMicrojoules":9007199254740993,"activeMicrojoules":8280000000,)"
      R"("idleMicrojoules":36000000000,"powerMicrowatts":42300000,"activeMicrowatts":12300000,)"
      R"("idleMicrowatts":30000000},)"
      R"("accounts":{"idle":36000000000,"kernel":120000000,"workloads":8160000000,"unattributed":0},)"
      R"("source":{"name":"powercap","quality":"measured","reason":null},)"
      R"("split":"usage-ratio","share":"cpu-time","idle":"separate","intervalUsec":1000000,)"
      R"("sequence":1234,"realtimeUsec":1763697662000000,"monotonicUsec":5000000000,"windowUsec":1000123,)"
      R"("instanceId":"0123456789abcdef","sinceUsec":1763694062000000,)"
      R"("outsideOtherMicrojoules":0,"discardedWindows":0})"
      "\n");
}

TEST(Program, TheDefaultIsTheHostAtAGlanceAndAsJsonTheStatus) {
  const FakeDaemon daemon;
  const Outcome outcome = run_keplerctl(daemon, {});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, StartsWith("Host 42.3 W (powercap, measured)"));
  EXPECT_THAT(outcome.out, HasSubstr("ACCOUNT"));
  EXPECT_THAT(outcome.out, HasSubstr("ssh.service\n"));
  EXPECT_EQ(run_keplerctl(daemon, {"-j"}).out, run_keplerctl(daemon, {"status", "-j"}).out);
}

TEST(Program, ListsAsJsonHaveEveryRow) {
  Canned canned;
  canned.lists["units"][0]["energyMicrojoules"] = kBeyondDouble;
  const FakeDaemon daemon(canned);
  for (const auto& [kind, rows] : canned.lists) {
    const Outcome outcome = run_keplerctl(daemon, {kind, "--json=short"});
    EXPECT_EQ(outcome.status, 0);
    const std::string key = kind == "vms" ? "virtualMachines" : kind;
    EXPECT_EQ(outcome.out, Json({{key, rows}}).dump() + "\n");
  }
}

TEST(Program, AnEmptyListAsJsonIsAnEmptyArray) {
  Canned canned;
  canned.lists["units"].clear();
  const FakeDaemon daemon(canned);
  EXPECT_EQ(run_keplerctl(daemon, {"units", "-j"}).out, "{\"units\":[]}\n");
}

TEST(Program, TheDaemonLimitsJson) {
  const FakeDaemon daemon;
  const Outcome outcome = run_keplerctl(daemon, {"units", "-j", "-n1"});
  EXPECT_EQ(outcome.out, Json({{"units", Json::array({unit_rows()[0]})}}).dump() + "\n");
}

TEST(Program, TypesFilterJsonOnlyIfRequested) {
  const FakeDaemon daemon;
  const auto rows = unit_rows();
  EXPECT_EQ(run_keplerctl(daemon, {"units", "-j", "--type=slice"}).out,
            Json({{"units", Json::array({rows[0]})}}).dump() + "\n");
  EXPECT_EQ(run_keplerctl(daemon, {"units", "-j", "--type=service", "-n1"}).out,
            Json({{"units", Json::array({rows[1]})}}).dump() + "\n");
}

TEST(Program, ATablesLimitCountsVisibleRows) {
  Canned canned;
  for (Json& row : canned.lists["units"]) row["state"] = "terminated";
  canned.lists["units"][1]["state"] = "running";  // neither the first nor the last by energy
  const FakeDaemon daemon(canned);
  const Outcome outcome = run_keplerctl(daemon, {"units", "-n1", "--no-legend"});
  EXPECT_EQ(outcome.out, "11.50 W  2.08 Wh  16.94%  2.08 Wh  90.00 s  /system.slice/ssh.service\n");
}

TEST(Program, TheDaemonSorts) {
  const FakeDaemon daemon;
  const auto rows = unit_rows();
  const Json by_name = {{"units", Json::array({rows[2], rows[1], rows[0]})}};
  EXPECT_EQ(run_keplerctl(daemon, {"units", "-j", "--sort=name"}).out, by_name.dump() + "\n");
  const Outcome table = run_keplerctl(daemon, {"units", "--sort=name", "-n1", "--no-legend"});
  EXPECT_THAT(table.out, HasSubstr("/ssh.service\n"));
}

TEST(Program, TablesHaveAHeadAndAFooter) {
  const FakeDaemon daemon;
  const Outcome outcome = run_keplerctl(daemon, {"units"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, StartsWith("Host 42.3 W (powercap, measured)"));
  EXPECT_THAT(outcome.out, HasSubstr("\n1 of 3 units, 1 terminated not shown"));
}

TEST(Program, WithoutALegendSimulatedIsSaidOnStandardError) {
  Canned canned;
  canned.statuses = {simulated_status()};
  const FakeDaemon daemon(canned);
  for (const char* verb : {"status", "units", "vms", "containers", "pods", "processes", "zones"}) {
    const Outcome outcome = run_keplerctl(daemon, {verb, "--no-legend"});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.err, "keplerctl: SIMULATED: no meter is read, the numbers are invented\n") << verb;
  }
}

TEST(Program, ATerminalsWidthIsKept) {
  const FakeDaemon daemon;
  Terminal terminal;
  terminal.is_terminal = true;
  terminal.width = 60;
  std::ostringstream out, err;
  run_program({"units", "--no-pager", "--varlink=" + daemon.address()}, terminal, out, err);
  EXPECT_THAT(out.str(), HasSubstr("\n11.50 W  2.08 Wh  16.94%  90.00 s  /system.slice/ssh.service\n"));
}

TEST(Program, FullKeepsWhatATerminalHasNoRoomFor) {
  const FakeDaemon daemon;
  Terminal terminal;
  terminal.is_terminal = true;
  terminal.width = 40;
  std::ostringstream out, err;
  run_program({"vms", "-l", "--varlink=" + daemon.address()}, terminal, out, err);
  EXPECT_EQ(out.str(), run_keplerctl(daemon, {"vms"}).out);
}

TEST(Program, QuietLeavesHintsOut) {
  Canned canned;
  canned.statuses = {public_status()};
  const FakeDaemon daemon(canned);
  const Outcome outcome = run_keplerctl(daemon, {"units", "-q"});
  EXPECT_THAT(outcome.out, StartsWith("Host 42.3 W (powercap, measured): 12.3 W active, 30.0 W idle\n\n"));
  EXPECT_THAT(outcome.out, testing::EndsWith("ssh.service\n"));
  EXPECT_EQ(run_keplerctl({"units", "-q", "--varlink=/nonexistent/socket"}).err,
            "keplerctl: /nonexistent/socket: no such socket; is keplerd running?\n");
}

TEST(Program, TheDaemonsErrorsAreReadable) {
  Canned canned;
  canned.failure = "org.varlink.service.PermissionDenied";
  const FakeDaemon daemon(canned);
  const Outcome outcome = run_keplerctl(daemon, {"units"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err,
            "keplerctl: access denied: only root and members of the group keplerd may query keplerd\n");
}

TEST(Show, FindsByIdAndByName) {
  const FakeDaemon daemon;
  for (const char* wanted : {"/system.slice/ssh.service", "ssh.service"}) {
    const Outcome outcome = run_keplerctl(daemon, {"show", wanted});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_THAT(outcome.out, HasSubstr("Id: /system.slice/ssh.service\n"));
  }
  EXPECT_THAT(run_keplerctl(daemon, {"show", "812.4711"}).out, HasSubstr("Command: sshd\n"));
  EXPECT_THAT(run_keplerctl(daemon, {"show", "powercap:core:0"}).out, HasSubstr("In host's total: no\n"));
}

TEST(Show, FindsByPidByNameInAnyCaseAndByTheStartOfAnId) {
  const FakeDaemon daemon;
  EXPECT_THAT(run_keplerctl(daemon, {"show", "812"}).out, HasSubstr("Command: sshd\n"));
  EXPECT_THAT(run_keplerctl(daemon, {"show", "WEB"}).out, HasSubstr("Name: web\n"));
  EXPECT_THAT(run_keplerctl(daemon, {"show", "4dea"}).out, HasSubstr("Name: web\n"));
  EXPECT_EQ(run_keplerctl(daemon, {"show", "WEB", "-j"}).status, 3);  // a program must not get another row
  EXPECT_EQ(run_keplerctl(daemon, {"show", "812", "-j"}).out, process_rows()[0].dump() + "\n");
  const Outcome outcome = run_keplerctl(daemon, {"show", "/system"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err,
            "keplerctl: '/system' is ambiguous: unit /system.slice, unit /system.slice/ssh.service, "
            "unit /system.slice/old.service; use one of the ids\n");
}

TEST(Show, AsJsonIsTheRow) {
  const FakeDaemon daemon;
  EXPECT_EQ(run_keplerctl(daemon, {"show", "stray", "-j"}).out, process_rows()[1].dump() + "\n");
}

TEST(Show, NothingSuchHasItsOwnStatus) {
  const FakeDaemon daemon;
  const Outcome outcome = run_keplerctl(daemon, {"show", "nobody\n"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err,
            "keplerctl: no unit, virtual machine, container, pod, process or zone is called 'nobody\\x0a' "
            "('keplerctl units' and the other lists show what there is)\n");
}

TEST(Show, AnAmbiguousNameListsTheIdsOfAllKinds) {
  Canned canned;
  for (Json& row : canned.lists["units"]) row["name"] = "twice";
  canned.lists["processes"][0]["name"] = "twice";
  const FakeDaemon daemon(canned);
  const Outcome outcome = run_keplerctl(daemon, {"show", "twice"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err,
            "keplerctl: 'twice' is ambiguous: unit /system.slice, unit /system.slice/ssh.service, "
            "unit /system.slice/old.service, process 812.4711; use one of the ids\n");
}

TEST(Show, FindsGuestsByIdAndByName) {
  const FakeDaemon daemon;
  for (const auto& [wanted, kind] : std::map<std::string, std::string>{
           {"web", "virtual-machine"},
           {"4dea22b3-1d52-d8f3-2516-782e98ab3fa0", "virtual-machine"},
           {"cache", "container"},
           {"0b87a6b4c3d2e1f00b87a6b4c3d2e1f00b87a6b4c3d2e1f00b87a6b4c3d2e1f0", "container"},
           {"api-7c5ddbdf54-x2x7k", "pod"},
           {"d2ffa0a3-6ac4-4b5e-9f0e-3f6b7f0f7a11", "pod"}}) {
    const Outcome outcome = run_keplerctl(daemon, {"show", wanted});
    EXPECT_EQ(outcome.status, 0) << wanted;
    EXPECT_THAT(outcome.out, HasSubstr("            Kind: " + kind + "\n")) << wanted;
  }
}

TEST(Show, ANameOfAUnitAndOfGuestsIsAmbiguous) {
  Canned canned;
  canned.lists["units"][1]["name"] = "web";
  canned.lists["containers"][1]["name"] = "web";
  canned.lists["pods"][0]["name"] = "web";
  const FakeDaemon daemon(canned);
  const Outcome outcome = run_keplerctl(daemon, {"show", "web"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err,
            "keplerctl: 'web' is ambiguous: unit /system.slice/ssh.service, "
            "virtual machine 4dea22b3-1d52-d8f3-2516-782e98ab3fa0, container build, "
            "pod 5f0c7a6e-9e1d-4f43-8a2b-0c1d2e3f4a5b; use one of the ids\n");
}

// keplerd has not been restarted since its update.
TEST(Show, WhatAnOlderDaemonDoesNotListIsPassedOver) {
  Canned canned;
  for (const char* kind : {"vms", "containers", "pods"}) canned.lists.erase(kind);
  const FakeDaemon daemon(canned);
  EXPECT_THAT(run_keplerctl(daemon, {"show", "stray"}).out, HasSubstr("Id: 9.5\n"));
  EXPECT_EQ(run_keplerctl(daemon, {"show", "web"}).status, 3);
  const Outcome outcome = run_keplerctl(daemon, {"vms"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "keplerctl: keplerd does not accept the parameter 'kind'\n");
}

TEST(Show, AnIdComesBeforeNames) {
  Canned canned;
  canned.lists["units"][0]["name"] = "9.5";
  const FakeDaemon daemon(canned);
  EXPECT_THAT(run_keplerctl(daemon, {"show", "9.5"}).out, HasSubstr("Name: stray\n"));
}

TEST(IdlePolicy, IsBesideTheOneInEffectInJson) {
  FakeDaemon daemon;
  const Outcome outcome = run_keplerctl(daemon, {"--json=short", "vms", "--idle=size"});
  const Json json = Json::parse(outcome.out);
  const Json& row = json.at("virtualMachines").at(0);
  EXPECT_EQ(row.at("policyIdleMicrowatts"), 1'500'000);
  EXPECT_EQ(row.at("policyPowerMicrowatts"), row.at("powerMicrowatts").get<std::int64_t>() + 1'500'000);
  EXPECT_EQ(json.at("policy").dump(), R"({"idle":"size","hostMicrowatts":24000000})");
  EXPECT_FALSE(Json::parse(run_keplerctl(daemon, {"--json=short", "vms"}).out).contains("policy"));
}

TEST(IdlePolicy, MustBeOneAndHasNoCsv) {
  const Outcome unknown = run_keplerctl({"vms", "--idle=fair"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.err.find("unknown idle policy 'fair' (expected separate, equal, size or usage)"),
            std::string::npos);
  const Outcome csv = run_keplerctl({"vms", "--idle=size", "-o", "csv"});
  EXPECT_EQ(csv.status, 2);
  EXPECT_NE(csv.err.find("--idle cannot be combined with --output=csv"), std::string::npos);
}

TEST(IdlePolicy, NeedsFullAccess) {
  FakeDaemon daemon(Canned{.failure = "org.varlink.service.PermissionDenied"});
  const Outcome denied = run_keplerctl(daemon, {"--json=short", "vms", "--idle=size"});
  EXPECT_EQ(denied.status, 1);
  EXPECT_EQ(
      denied.err,
      "keplerctl: --idle: access denied: only root and members of the group keplerd may see what other idle "
      "policies would place\n");
}

}  // namespace
}  // namespace keplerd::cli
