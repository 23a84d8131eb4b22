// SPDX-License-Identifier: Apache-2.0
#include <ctime>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/fake_daemon.h"
#include "support/fake_host.h"

namespace keplerd::cli {
namespace {

using testing::HasSubstr;

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
  Canned canned;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  canned.statuses[0]["monotonicUsec"] = now.tv_sec * 1'000'000;
  const FakeDaemon daemon(canned);
  const Outcome outcome = run({"--varlink=" + daemon.address()});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, HasSubstr("meter powercap  usable: powercap:package:0\n"));
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
