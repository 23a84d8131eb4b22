// SPDX-License-Identifier: Apache-2.0
// Complete captured hosts: which meter is selected, with which zones, of what quality, and which of them make
// up the total. Doctor's findings on each are in tests/cli/doctor_hosts_test.cpp.
#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "energy/source_keeper.h"
#include "support/captured_host.h"
#include "support/fake_perf.h"

namespace keplerd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Hosts : public ::testing::Test {
 protected:
  void replay(const std::string& name) { lay_out(host_, read_capture(name)); }

  // The meter's name, then "ID QUALITY" of each zone: "+" if it is in the total, "-" if no part of it is
  // divided today. Sets total_ to the sum of the total's counters, in microjoules.
  std::vector<std::string> reported(bool perf_is_permitted = false) {
    const HostRoot host = host_.open();
    perf_.open_error = perf_is_permitted ? 0 : EACCES;
    SourceKeeper keeper(host, {.open_perf_counter = perf_.opener()});
    keeper.scan(std::chrono::seconds(1));
    reason_ = keeper.reason();
    ZoneReadings readings;
    keeper.read(std::chrono::seconds(1), readings);
    total_ = 0;
    std::vector<std::string> texts{std::string(keeper.name())};
    for (std::size_t i = 0; i < readings.size(); ++i) {
      const Zone& zone = keeper.zones()[i];
      EXPECT_TRUE(readings[i].ok()) << zone.id;
      if (zone.in_total && readings[i]) total_ += readings[i]->value;
      const bool divided = zone.resource == Resource::kCpu || zone.resource == Resource::kDram;
      texts.push_back(std::string(zone.in_total ? "+" : "") + (divided ? "" : "-") + zone.id + " " +
                      std::string(quality_name(zone.quality)));
    }
    return texts;
  }
  std::vector<std::string> told_by_perf() { return reported(true); }

  FakeHost host_;
  FakePerf perf_;
  std::string reason_;
  std::int64_t total_ = 0;
};

TEST_F(Hosts, IntelOfOneSocket) {
  replay("intel-1-socket");
  EXPECT_THAT(reported(),
              ElementsAre("powercap", "+powercap:package:0 measured", "+powercap:dram:0 measured"));
  EXPECT_EQ(total_, 42'000'003);
  EXPECT_THAT(told_by_perf(), ElementsAre("perf", "+perf:package:0 measured", "+perf:dram:0 measured"));
}

TEST_F(Hosts, IntelOfTwoSockets) {
  replay("intel-2-sockets");
  EXPECT_THAT(reported(),
              ElementsAre("powercap", "+powercap:package:0 measured", "+powercap:package:1 measured",
                          "+powercap:dram:0 measured", "+powercap:dram:1 measured"));
  EXPECT_EQ(total_, 13'200'010);
  EXPECT_THAT(told_by_perf(), ElementsAre("perf", "+perf:package:0 measured", "+perf:package:1 measured",
                                          "+perf:dram:0 measured", "+perf:dram:1 measured"));
}

TEST_F(Hosts, IntelOfTwoDiesAPackage) {
  replay("intel-multi-die");
  EXPECT_THAT(
      reported(),
      ElementsAre("powercap", "+powercap:package:0 measured", "+powercap:package:1 measured",
                  "+powercap:package:2 measured", "+powercap:package:3 measured", "+powercap:dram:0 measured",
                  "+powercap:dram:1 measured", "+powercap:dram:2 measured", "+powercap:dram:3 measured"));
  EXPECT_EQ(total_, 10'100'000);
  EXPECT_THAT(told_by_perf(),
              ElementsAre("perf", "+perf:package:0 measured", "+perf:package:1 measured",
                          "+perf:package:2 measured", "+perf:package:3 measured", "+perf:dram:0 measured",
                          "+perf:dram:1 measured", "+perf:dram:2 measured", "+perf:dram:3 measured"));
}

TEST_F(Hosts, IntelClientWithPsysAndAnMmioTwin) {
  replay("intel-client");
  EXPECT_THAT(reported(), ElementsAre("powercap", "+powercap:package:0 measured", "powercap:core:0 measured",
                                      "powercap:uncore:0 measured", "powercap:psys:0 measured"));
  EXPECT_EQ(total_, 300'000'001) << "neither the twin nor what overlaps";
  EXPECT_THAT(told_by_perf(), ElementsAre("perf", "+perf:package:0 measured", "perf:core:0 measured",
                                          "perf:uncore:0 measured", "perf:psys:0 measured"));
}

TEST_F(Hosts, SapphireRapidsWithBothTpmiAndMsr) {
  // Both drivers register intel-rapl; the packages of the later one are duplicates.
  replay("intel-tpmi");
  EXPECT_THAT(reported(), ElementsAre("powercap", "+powercap:package:0 measured",
                                      "+powercap:package:1 measured", "+powercap:dram:0 measured",
                                      "+powercap:dram:1 measured", "powercap:psys:0 measured"));
  EXPECT_EQ(total_, 187'000'003);
  EXPECT_THAT(told_by_perf(), ElementsAre("perf", "+perf:package:0 measured", "+perf:package:1 measured",
                                          "+perf:dram:0 measured", "+perf:dram:1 measured",
                                          "perf:psys:0 measured", "perf:psys:1 measured"));
}

TEST_F(Hosts, IntelWithFilteredCounters) {
  replay("intel-sgx");
  EXPECT_THAT(reported(),
              ElementsAre("powercap", "+powercap:package:0 modelled", "+powercap:dram:0 modelled"));
  EXPECT_EQ(total_, 36'000'003);
}

TEST_F(Hosts, AmdZenServer) {
  replay("amd-zen-server");
  EXPECT_THAT(reported(),
              ElementsAre("powercap", "+powercap:package:0 modelled", "+powercap:package:1 modelled"));
  EXPECT_EQ(total_, 130'000'004) << "without the single cores";
  EXPECT_THAT(told_by_perf(), ElementsAre("perf", "+perf:package:0 modelled", "+perf:package:1 modelled"));
}

TEST_F(Hosts, AmdWithTheOldHwmonDriverAlone) {
  replay("amd-old-hwmon");
  EXPECT_THAT(reported(), ElementsAre("hwmon", "+hwmon:package:0 modelled"));
  EXPECT_EQ(total_, 20'000'001);
}

TEST_F(Hosts, ArmServerWithScmiPowercap) {
  replay("arm-scmi");
  EXPECT_THAT(reported(),
              ElementsAre("powercap", "+powercap:package:0 modelled", "powercap:CLUSTER0:0 modelled",
                          "-powercap:FAN:0 modelled", "-powercap:SYS:0 modelled"));
}

TEST_F(Hosts, ArmServerWithXgeneAndAPlatformMeter) {
  replay("arm-xgene");
  EXPECT_THAT(reported(), ElementsAre("hwmon", "+hwmon:package:0 modelled", "-acpi:platform:0 modelled"));
}

TEST_F(Hosts, WorkstationWithGraphicsCards) {
  replay("workstation-gpus");
  EXPECT_THAT(reported(),
              ElementsAre("powercap", "+powercap:package:0 measured", "-amdgpu:gpu:0 modelled",
                          "-i915:gpu:0 measured", "-xe:gpu:0 measured", "-xe:gpu-package:0 measured"));
  EXPECT_EQ(total_, 50'000'001);
}

TEST_F(Hosts, CloudGuestWithoutAnything) {
  replay("cloud-guest");
  EXPECT_THAT(told_by_perf(), ElementsAre("none"));
  EXPECT_THAT(reason_, HasSubstr("devices/power: has no energy events"));
  EXPECT_THAT(reason_, HasSubstr("class/powercap: No such file or directory"));
  EXPECT_THAT(reason_, HasSubstr("class/hwmon: No such file or directory"));
}

}  // namespace
}  // namespace keplerd
