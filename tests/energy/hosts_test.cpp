// SPDX-License-Identifier: Apache-2.0
// Whole hosts, as their files tell them: which meter is taken, with which zones, of what quality, and what of
// them is the total.
#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "energy/source_keeper.h"
#include "support/fake_host.h"
#include "support/fake_hwmon.h"
#include "support/fake_perf.h"

namespace keplerd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Hosts : public ::testing::Test {
 protected:
  // The meter's name, then "ID QUALITY" of each zone: "+" where it is in the total, "-" where it is not
  // divided.
  std::vector<std::string> told() {
    const HostRoot host = host_.open();
    SourceKeeper keeper(host, {.open_perf_counter = perf_.opener()});
    keeper.look(std::chrono::seconds(1));
    reason_ = keeper.reason();
    std::vector<std::string> texts{std::string(keeper.name())};
    for (const Zone& zone : keeper.zones()) {
      texts.push_back(std::string(zone.in_total ? "+" : "") + (zone.divided ? "" : "-") + zone.id + " " +
                      std::string(quality_name(zone.quality)));
    }
    return texts;
  }

  void add_zone(const std::string& directory, const std::string& name) {
    host_.add_powercap_zone({.dir = directory, .name = name, .energy = 1000});
  }
  void add_events(const std::string& cpumask,
                  std::initializer_list<std::pair<const char*, FakePerf::Event>> events) {
    FakePerf::add_pmu(host_, cpumask);
    for (const auto& [name, event] : events) FakePerf::add_event(host_, name, event);
  }

  FakeHost host_;
  FakePerf perf_;
  std::string reason_;
};

TEST_F(Hosts, IntelOfOneSocket) {
  add_zone("intel-rapl:0", "package-0");
  add_zone("intel-rapl:0:0", "dram");
  add_events("0", {{"energy-pkg", FakePerf::kPackage}, {"energy-ram", FakePerf::kDram}});
  FakePerf::add_cpu(host_, 0, 0);
  EXPECT_THAT(told(), ElementsAre("perf", "+perf:package:0 measured", "+perf:dram:0 measured"));
  perf_.open_error = EACCES;
  EXPECT_THAT(told(), ElementsAre("powercap", "+powercap:package:0 measured", "+powercap:dram:0 measured"));
}

TEST_F(Hosts, IntelOfTwoSockets) {
  add_zone("intel-rapl:0", "package-1");
  add_zone("intel-rapl:0:0", "dram");
  add_zone("intel-rapl:1", "package-0");
  add_zone("intel-rapl:1:0", "dram");
  perf_.open_error = EPERM;
  add_events("0,28", {{"energy-pkg", FakePerf::kPackage}, {"energy-ram", FakePerf::kDram}});
  FakePerf::add_cpu(host_, 0, 0);
  FakePerf::add_cpu(host_, 28, 1);
  EXPECT_THAT(told(), ElementsAre("powercap", "+powercap:package:0 measured", "+powercap:package:1 measured",
                                  "+powercap:dram:0 measured", "+powercap:dram:1 measured"));
  perf_.open_error = 0;
  EXPECT_THAT(told(), ElementsAre("perf", "+perf:package:0 measured", "+perf:package:1 measured",
                                  "+perf:dram:0 measured", "+perf:dram:1 measured"));
}

TEST_F(Hosts, IntelOfTwoDiesAPackage) {
  for (const auto* const directory : {"intel-rapl:0", "intel-rapl:1", "intel-rapl:2", "intel-rapl:3"}) {
    const int number = directory[11] - '0';
    add_zone(directory, fmt::format("package-{}-die-{}", number / 2, number % 2));
    add_zone(std::string(directory) + ":0", "dram");
    FakePerf::add_cpu(host_, number * 24, number / 2, number % 2);
  }
  EXPECT_THAT(told(), ElementsAre("powercap", "+powercap:package:0 measured", "+powercap:package:1 measured",
                                  "+powercap:package:2 measured", "+powercap:package:3 measured",
                                  "+powercap:dram:0 measured", "+powercap:dram:1 measured",
                                  "+powercap:dram:2 measured", "+powercap:dram:3 measured"));
  add_events("0,24,48,72", {{"energy-pkg", FakePerf::kPackage}});
  EXPECT_THAT(told(), ElementsAre("perf", "+perf:package:0 measured", "+perf:package:1 measured",
                                  "+perf:package:2 measured", "+perf:package:3 measured"));
}

TEST_F(Hosts, IntelClientWithPsysAndAnMmioTwin) {
  add_zone("intel-rapl:0", "package-0");
  add_zone("intel-rapl:0:0", "core");
  add_zone("intel-rapl:0:1", "uncore");
  add_zone("intel-rapl:1", "psys");
  add_zone("intel-rapl-mmio:0", "package-0");
  EXPECT_THAT(told(), ElementsAre("powercap", "+powercap:package:0 measured", "powercap:core:0 measured",
                                  "powercap:uncore:0 measured", "powercap:psys:0 measured"));
  add_events("0", {{"energy-psys", FakePerf::kPsys},
                   {"energy-gpu", FakePerf::kGpu},
                   {"energy-cores", FakePerf::kCores},
                   {"energy-pkg", FakePerf::kPackage}});
  FakePerf::add_cpu(host_, 0, 0);
  EXPECT_THAT(told(), ElementsAre("perf", "+perf:package:0 measured", "perf:core:0 measured",
                                  "perf:uncore:0 measured", "perf:psys:0 measured"));
}

TEST_F(Hosts, SapphireRapidsWithTpmiBesideMsr) {
  // Both drivers register intel-rapl; the later one's packages are the same again.
  add_zone("intel-rapl:0", "package-0");
  add_zone("intel-rapl:0:0", "dram");
  add_zone("intel-rapl:1", "package-1");
  add_zone("intel-rapl:1:0", "dram");
  add_zone("intel-rapl:2", "package-0");
  add_zone("intel-rapl:2:0", "dram");
  add_zone("intel-rapl:3", "package-1");
  add_zone("intel-rapl:3:0", "dram");
  add_zone("intel-rapl:4", "psys");
  EXPECT_THAT(told(), ElementsAre("powercap", "+powercap:package:0 measured", "+powercap:package:1 measured",
                                  "+powercap:dram:0 measured", "+powercap:dram:1 measured",
                                  "powercap:psys:0 measured"));
}

TEST_F(Hosts, AmdZenServer) {
  host_.set_cpu_vendor("AuthenticAMD");
  add_zone("intel-rapl:0", "package-0");
  add_zone("intel-rapl:0:0", "core");
  add_zone("intel-rapl:1", "package-1");
  add_zone("intel-rapl:1:0", "core");
  EXPECT_THAT(told(),
              ElementsAre("powercap", "+powercap:package:0 modelled", "+powercap:package:1 modelled"));
  add_events("0,64", {{"energy-pkg", FakePerf::kPackage}});
  FakePerf::add_cpu(host_, 0, 0);
  FakePerf::add_cpu(host_, 64, 1);
  host_.write("sys/bus/event_source/devices/power_core/type", "30\n");
  host_.write("sys/bus/event_source/devices/power_core/events/energy-core", "event=0x01\n");
  EXPECT_THAT(told(), ElementsAre("perf", "+perf:package:0 modelled", "+perf:package:1 modelled"));
}

TEST_F(Hosts, AmdWithTheOldHwmonDriverAlone) {
  host_.set_cpu_vendor("AuthenticAMD");
  add_hwmon(host_, 1, "k10temp", "pci/0000:00:18.3", {{"temp1_input", "40000"}});
  add_hwmon(host_, 2, "amd_energy", "platform/amd_energy.0",
            {{"energy1_input", "1"},
             {"energy1_label", "Ecore000"},
             {"energy2_input", "2"},
             {"energy2_label", "Esocket0"}});
  EXPECT_THAT(told(), ElementsAre("hwmon", "+hwmon:package:0 modelled"));
}

TEST_F(Hosts, ArmServerWithScmiPowercap) {
  host_.write("proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 50.00\n\n");
  for (const auto& [directory, name] :
       {std::pair{"arm-scmi:0", "SYS"}, std::pair{"arm-scmi:0:0", "SOC"},
        std::pair{"arm-scmi:0:0:0", "CLUSTER0"}, std::pair{"arm-scmi:0:1", "FAN"}}) {
    add_zone(directory, name);
    host_.write(std::string("sys/class/powercap/") + directory + "/power_uw", "5000000\n");
  }
  EXPECT_THAT(told(), ElementsAre("powercap", "+powercap:package:0 modelled", "powercap:CLUSTER0:0 modelled",
                                  "-powercap:FAN:0 modelled", "-powercap:SYS:0 modelled"));
}

TEST_F(Hosts, ArmServerWithXgeneAndAPlatformMeter) {
  host_.write("proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 50.00\n\n");
  add_hwmon(host_, 0, "apm_xgene", "platform/APMC0D29:00",
            {{"power1_input", "30000000"},
             {"power1_label", "CPU power"},
             {"power2_input", "9000000"},
             {"power2_label", "IO power"}});
  add_hwmon(host_, 1, "power_meter", "acpi/ACPI000D:00", {{"power1_average", "90000000"}});
  EXPECT_THAT(told(), ElementsAre("hwmon", "+hwmon:package:0 modelled", "-acpi:platform:0 modelled"));
}

TEST_F(Hosts, WorkstationWithGraphicsCards) {
  add_zone("intel-rapl:0", "package-0");
  add_hwmon(host_, 3, "i915", "pci/0000:03:00.0", {{"energy1_input", "1"}});
  add_hwmon(
      host_, 4, "xe", "pci/0000:04:00.0",
      {{"energy1_input", "2"}, {"energy1_label", "card"}, {"energy2_input", "1"}, {"energy2_label", "pkg"}});
  add_hwmon(host_, 5, "amdgpu", "pci/0000:05:00.0", {{"power1_average", "7000000"}, {"power1_label", "PPT"}});
  add_hwmon(host_, 6, "nvme", "pci/nvme0", {{"temp1_input", "30000"}, {"power1_input", "3000000"}});
  EXPECT_THAT(told(),
              ElementsAre("powercap", "+powercap:package:0 measured", "-amdgpu:gpu:0 modelled",
                          "-i915:gpu:0 measured", "-xe:gpu:0 measured", "-xe:gpu-package:0 measured"));
}

TEST_F(Hosts, CloudGuestWithoutAnything) {
  host_.set_cpu_vendor("GenuineIntel", "fpu hypervisor");
  FakePerf::add_pmu(host_, "0");  // the PMU may be there, without events
  FakePerf::add_cpu(host_, 0, 0);
  EXPECT_THAT(told(), ElementsAre("none"));
  EXPECT_THAT(reason_, HasSubstr("devices/power: has no energy events"));
  EXPECT_THAT(reason_, HasSubstr("class/powercap: No such file or directory"));
  EXPECT_THAT(reason_, HasSubstr("class/hwmon: No such file or directory"));
}

}  // namespace
}  // namespace keplerd
