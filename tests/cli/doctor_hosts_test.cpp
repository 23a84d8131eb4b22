// SPDX-License-Identifier: Apache-2.0
// Doctor's findings about the meters of captured hosts, without a daemon. Their zones are tested in
// tests/energy/hosts_test.cpp. (On a replayed host no perf events can be opened.)
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/doctor/checks.h"
#include "cli/doctor/meters.h"
#include "support/captured_host.h"

namespace keplerd::cli {
namespace {

using testing::ElementsAre;

// "NAME: FOUND", and "; FIX" if there is one. Paths as on the captured host.
std::vector<std::string> reported(const std::string& name) {
  FakeHost host;
  lay_out(host, read_capture(name));
  const DoctorFacts facts = gather_facts("/nonexistent/socket", host.paths());
  std::vector<std::string> lines;
  for (const Check& check : check_meters(facts)) {
    std::string line = check.name + ": " + check.found + (check.fix.empty() ? "" : "; " + check.fix);
    for (const auto& [here, there] : {std::pair{host.paths().sysfs, "/sys"}, {host.paths().root, ""}}) {
      if (const auto at = line.find(here); at != line.npos) line.replace(at, here.size(), there);
    }
    lines.push_back(line);
  }
  return lines;
}

constexpr char kNotOfThisKernel[] =
    "meter perf: /sys/bus/event_source/devices/power: is not of this kernel (not needed: another meter "
    "works)";
constexpr char kNoPerf[] =
    "meter perf: /sys/bus/event_source/devices/power/cpumask: No such file or directory (not needed: another "
    "meter works)";
constexpr char kNoPowercap[] =
    "meter powercap: /sys/class/powercap: No such file or directory (not needed: another meter works)";
constexpr char kNoGuest[] =
    "meter guest: /run/keplerd-meter: No such file or directory (not needed: another meter works)";
constexpr char kNoHwmon[] =
    "meter hwmon: /sys/class/hwmon: no known processor sensor (not needed: another meter works)";
constexpr char kNoneShownOnly[] = "other meters: none";

TEST(DoctorHosts, TheFrequencyIsThatOfCpufreq) {
  FakeHost host;
  EXPECT_FALSE(gather_facts("/nonexistent/socket", host.paths()).has_frequency);
  host.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2400000");
  EXPECT_TRUE(gather_facts("/nonexistent/socket", host.paths()).has_frequency);
}

TEST(DoctorHosts, Cgroup2WithoutAnyCgroupIsAWarning) {
  FakeHost host;
  const auto check = [&] {
    const auto checks = check_all(gather_facts("/nonexistent/socket", host.paths()));
    return *std::ranges::find(checks, "cgroup2", &Check::name);
  };
  const std::string root = host.paths().cgroupfs.value();
  EXPECT_EQ(check().state, CheckState::kWarning);
  EXPECT_EQ(check().fix, "run keplerd where the cgroups of systemd or a container runtime are visible");
  EXPECT_EQ(check().found, root + " contains no cgroups: energy is divided among processes only, not units");
  host.add_cgroup("/system.slice");
  EXPECT_EQ(check().state, CheckState::kOk);
  EXPECT_EQ(check().found, "at " + root);
}

TEST(DoctorHosts, IntelOfOneSocket) {
  EXPECT_THAT(reported("intel-1-socket"),
              ElementsAre(kNotOfThisKernel, "meter powercap: usable: powercap:package:0 powercap:dram:0",
                          kNoGuest, kNoHwmon, kNoneShownOnly));
}

TEST(DoctorHosts, IntelOfTwoSockets) {
  EXPECT_THAT(reported("intel-2-sockets"),
              ElementsAre(kNotOfThisKernel,
                          "meter powercap: usable: powercap:package:0 powercap:package:1 powercap:dram:0 "
                          "powercap:dram:1",
                          kNoGuest, kNoHwmon, kNoneShownOnly));
}

TEST(DoctorHosts, IntelOfTwoDiesAPackage) {
  EXPECT_THAT(reported("intel-multi-die"),
              ElementsAre(kNotOfThisKernel,
                          "meter powercap: usable: powercap:package:0 powercap:package:1 powercap:package:2 "
                          "powercap:package:3 powercap:dram:0 powercap:dram:1 powercap:dram:2 "
                          "powercap:dram:3",
                          kNoGuest, kNoHwmon, kNoneShownOnly));
}

TEST(DoctorHosts, IntelClientWithPsysAndAnMmioTwin) {
  EXPECT_THAT(
      reported("intel-client"),
      ElementsAre(kNotOfThisKernel,
                  "meter powercap: usable: powercap:package:0 powercap:core:0 powercap:uncore:0 "
                  "powercap:psys:0",
                  kNoGuest, kNoHwmon, kNoneShownOnly,
                  "no zone: powercap intel-rapl-mmio:0 is intel-rapl:0 again, provided by another driver",
                  "no zone: hwmon BAT0 is not a known energy sensor"));
}

TEST(DoctorHosts, SapphireRapidsWithBothTpmiAndMsr) {
  EXPECT_THAT(
      reported("intel-tpmi"),
      ElementsAre(kNotOfThisKernel,
                  "meter powercap: usable: powercap:package:0 powercap:package:1 powercap:dram:0 "
                  "powercap:dram:1 powercap:psys:0",
                  kNoGuest, kNoHwmon, kNoneShownOnly,
                  "no zone: powercap intel-rapl:2 is intel-rapl:0 again, provided by another driver",
                  "no zone: powercap intel-rapl:2:0 is intel-rapl:0:0 again, provided by another driver",
                  "no zone: powercap intel-rapl:3 is intel-rapl:1 again, provided by another driver",
                  "no zone: powercap intel-rapl:3:0 is intel-rapl:1:0 again, provided by another driver"));
}

TEST(DoctorHosts, AmdZenServer) {
  EXPECT_THAT(reported("amd-zen-server"),
              ElementsAre(kNotOfThisKernel, "meter powercap: usable: powercap:package:0 powercap:package:1",
                          kNoGuest, kNoHwmon, kNoneShownOnly,
                          "no zone: powercap intel-rapl:0:0 is the counter of a single core on AMD",
                          "no zone: powercap intel-rapl:1:0 is the counter of a single core on AMD",
                          "no zone: perf power_core counts single cores, which are included in the counters "
                          "of the packages"));
}

TEST(DoctorHosts, AmdWithTheOldHwmonDriverAlone) {
  EXPECT_THAT(reported("amd-old-hwmon"), ElementsAre(kNoPerf, kNoPowercap, kNoGuest,
                                                     "meter hwmon: usable: hwmon:package:0", kNoneShownOnly));
}

TEST(DoctorHosts, ArmServerWithScmiPowercap) {
  EXPECT_THAT(reported("arm-scmi"),
              ElementsAre(kNoPerf,
                          "meter powercap: usable: powercap:package:0 powercap:CLUSTER0:0 powercap:FAN:0 "
                          "powercap:SYS:0",
                          kNoGuest, kNoHwmon, kNoneShownOnly));
}

TEST(DoctorHosts, ArmServerWithXgeneAndAPlatformMeter) {
  EXPECT_THAT(reported("arm-xgene"),
              ElementsAre(kNoPerf, kNoPowercap, kNoGuest, "meter hwmon: usable: hwmon:package:0",
                          "other meters: acpi:platform:0: shown, not in the host's total"));
}

TEST(DoctorHosts, WorkstationWithGraphicsCards) {
  EXPECT_THAT(reported("workstation-gpus"),
              ElementsAre(kNoPerf, "meter powercap: usable: powercap:package:0", kNoGuest, kNoHwmon,
                          "other meters: amdgpu:gpu:0 i915:gpu:0 xe:gpu:0 xe:gpu-package:0: shown, not in "
                          "the host's total",
                          "no zone: hwmon nvme is not a known energy sensor"));
}

TEST(DoctorHosts, CloudGuestWithoutAnything) {
  EXPECT_THAT(reported("cloud-guest"),
              ElementsAre("meter perf: /sys/bus/event_source/devices/power: has no energy events",
                          "meter powercap: /sys/class/powercap: No such file or directory; This is a virtual "
                          "machine, which has no energy counters of its own: measure on its host.",
                          "meter guest: /run/keplerd-meter: No such file or directory; This is a virtual "
                          "machine: its host can share a meter with it, see [Guests] in keplerd.conf(5).",
                          "meter hwmon: /sys/class/hwmon: No such file or directory",
                          "meter estimated: only if configured explicitly; Source=estimated, IdleWatts= and "
                          "MaxWatts= in keplerd.conf, for an estimate where there is no meter",
                          kNoneShownOnly));
}

}  // namespace
}  // namespace keplerd::cli
