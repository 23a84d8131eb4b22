// SPDX-License-Identifier: Apache-2.0
#include "energy/cpu/powercap.h"

#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/fake_host.h"
#include "support/source_readings.h"

namespace keplerd {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::StartsWith;

// The error of the only zone.
std::string read_error(EnergySource& source) {
  ZoneReadings readings;
  source.read({}, readings);
  return readings.at(0) ? "" : readings.at(0).error().message;
}

class PowercapTest : public ::testing::Test {
 protected:
  std::unique_ptr<EnergySource> open(const std::vector<std::string>& names = {}) {
    auto source = open_powercap(fake_.open(), names);
    if (!source) ADD_FAILURE() << source.error().message;
    return source ? *std::move(source) : nullptr;
  }

  void add_one_package() {
    fake_.add_powercap_zone({.dir = "intel-rapl:0", .name = "package-0", .energy = 100});
  }

  FakeHost fake_;
};

TEST_F(PowercapTest, ReadsTwoPackagesWithDramAndAnMmioTwin) {
  fake_.add_powercap_zone(
      {.dir = "intel-rapl:0", .name = "package-0", .energy = 1, .limits = {150'000'000, 180'000'000}});
  fake_.add_powercap_zone(
      {.dir = "intel-rapl:0:0", .name = "dram", .energy = 2, .limits = {0}, .max_powers = {41'000'000}});
  fake_.add_powercap_zone({.dir = "intel-rapl:1", .name = "package-1", .energy = 3});
  fake_.add_powercap_zone({.dir = "intel-rapl:1:0", .name = "dram", .energy = 4, .range = {}});
  fake_.add_powercap_zone({.dir = "intel-rapl-mmio:0", .name = "package-0", .energy = 5});
  fake_.add_powercap_zone({.dir = "intel-rapl-mmio:0:0", .name = "dram", .energy = 6});
  const auto source = open();
  EXPECT_EQ(source->name(), "powercap");
  EXPECT_THAT(read_all(*source), ElementsAre(1, 3, 2, 4));
  const auto& zones = source->zones();
  EXPECT_EQ(zones[0].largest_limit, Microwatts{180'000'000});
  EXPECT_EQ(zones[2].largest_limit, Microwatts{41'000'000});
  EXPECT_EQ(zones[1].largest_limit, Microwatts{0});
  EXPECT_EQ(zones[2].range, Microjoules{262'143'328'850});
  EXPECT_EQ(zones[3].range, Microjoules{0});
}

TEST_F(PowercapTest, ReadsOnlyTheZonesThatAreChosen) {
  fake_.add_powercap_zone({.dir = "intel-rapl:0", .name = "package-0", .energy = 1});
  fake_.add_powercap_zone({.dir = "intel-rapl:0:0", .name = "dram", .energy = 2});
  EXPECT_THAT(read_all(*open({"DRAM"})), ElementsAre(2));
  EXPECT_FALSE(open_powercap(fake_.open(), {"psys"}));
}

TEST_F(PowercapTest, LeavesOutTheSingleCoreOfAmd) {
  fake_.set_cpu_vendor("AuthenticAMD");
  fake_.add_powercap_zone({.dir = "intel-rapl:0", .name = "package-0", .energy = 9});
  fake_.add_powercap_zone({.dir = "intel-rapl:0:0", .name = "core", .energy = 1});
  const auto source = open();
  EXPECT_THAT(read_all(*source), ElementsAre(9));
  EXPECT_EQ(source->zones()[0].quality, Quality::kModelled);
}

TEST_F(PowercapTest, ArmScmiReportsPowerWhichIsIntegrated) {
  fake_.add_powercap_zone({.dir = "arm-scmi:0", .name = "SoC", .range = {}});
  const std::string power = "sys/class/powercap/arm-scmi:0/power_uw";
  fake_.write(power, "4000000\n");
  const auto source = open();
  const auto read_at = [&](Nanoseconds now) {
    ZoneReadings readings;
    source->read(now, readings);
    return readings.at(0) ? readings.at(0)->value : -1;
  };
  EXPECT_EQ(read_at(std::chrono::seconds(1)), 0);
  EXPECT_EQ(read_at(std::chrono::seconds(3)), 8'000'000);
  fake_.break_file(power);
  EXPECT_EQ(read_at(std::chrono::seconds(4)), -1);
  fake_.write(power, "4000000\n");
  EXPECT_EQ(read_at(std::chrono::seconds(5)), 16'000'000);
}

TEST_F(PowercapTest, ArmScmiWithoutAProcessorIsNotAMeter) {
  fake_.add_powercap_zone({.dir = "arm-scmi:0", .name = "DOMAIN-7", .range = {}});
  EXPECT_FALSE(open_powercap(fake_.open(), {}));
}

TEST_F(PowercapTest, ZoneThatCannotBeReadCostsOnlyItself) {
  fake_.add_powercap_zone({.dir = "intel-rapl:0", .name = "package-0", .energy = 1});
  fake_.add_powercap_zone({.dir = "intel-rapl:1", .name = "package-1", .energy = 2});
  const auto source = open();
  for (int tick = 0; tick < 3; ++tick) {
    fake_.break_energy("intel-rapl:0");
    EXPECT_THAT(read_all(*source), ElementsAre(-1, 2));
  }
  fake_.set_energy("intel-rapl:0", 3);
  EXPECT_THAT(read_all(*source), ElementsAre(3, 2));
}

TEST_F(PowercapTest, ZoneThatCannotBeReadAtFirstStaysInTheList) {
  add_one_package();
  fake_.break_energy("intel-rapl:0");
  const auto source = open();
  EXPECT_THAT(read_error(*source), EndsWith("/sys/class/powercap/intel-rapl:0/energy_uj: Is a directory"));
  fake_.set_energy("intel-rapl:0", 3);
  EXPECT_THAT(read_all(*source), ElementsAre(3));
}

TEST_F(PowercapTest, ZoneThatHasNoCounterAtFirstStaysInTheList) {
  add_one_package();
  fake_.remove("sys/devices/virtual/powercap/intel-rapl/intel-rapl:0/energy_uj");
  const auto source = open();
  EXPECT_THAT(read_error(*source), EndsWith("energy_uj: No such file or directory"));
  fake_.set_energy("intel-rapl:0", 3);
  EXPECT_THAT(read_all(*source), ElementsAre(3));
}

TEST_F(PowercapTest, GarbageIsAnErrorOfThatZone) {
  add_one_package();
  const auto source = open();
  for (const char* text : {"", "\n", "abc", "-5\n", "9223372036854775808\n"}) {
    fake_.set_energy_text("intel-rapl:0", text);
    EXPECT_THAT(read_all(*source), ElementsAre(-1)) << text;
  }
  fake_.set_energy_text("intel-rapl:0", std::string(100'000, '1'));
  EXPECT_THAT(read_error(*source), EndsWith("energy_uj: File too large"));
  fake_.set_energy_text("intel-rapl:0", "abc\n");
  EXPECT_THAT(read_error(*source),
              EndsWith("intel-rapl:0/energy_uj: \"abc\" is not a number of microjoules"));
  fake_.set_energy("intel-rapl:0", 6);
  EXPECT_THAT(read_all(*source), ElementsAre(6));
}

TEST_F(PowercapTest, FollowsACounterThatIsReplaced) {
  add_one_package();
  const auto source = open();
  EXPECT_THAT(read_all(*source), ElementsAre(100));
  fake_.set_energy("intel-rapl:0", 200);
  EXPECT_THAT(read_all(*source), ElementsAre(200));
}

TEST_F(PowercapTest, ZoneThatVanishesComesBack) {
  fake_.add_powercap_zone({.dir = "intel-rapl:0", .name = "package-0", .energy = 1});
  fake_.add_powercap_zone({.dir = "intel-rapl:0:0", .name = "dram", .energy = 2});
  const auto source = open();
  fake_.remove_powercap_zone("intel-rapl:0");
  EXPECT_THAT(read_all(*source), ElementsAre(-1, -1));
  fake_.add_powercap_zone({.dir = "intel-rapl:0", .name = "package-0", .energy = 3});
  EXPECT_THAT(read_all(*source), ElementsAre(3, -1));
  fake_.add_powercap_zone({.dir = "intel-rapl:0:0", .name = "dram", .energy = 4});
  EXPECT_THAT(read_all(*source), ElementsAre(3, 4));
}

TEST_F(PowercapTest, DirectoryThatComesBackAsAnotherZoneIsNotTaken) {
  fake_.add_powercap_zone({.dir = "intel-rapl:0", .name = "package-0", .energy = 1});
  fake_.add_powercap_zone({.dir = "intel-rapl:0:0", .name = "dram", .energy = 2});
  const auto source = open();
  fake_.remove_powercap_zone("intel-rapl:0");
  EXPECT_THAT(read_all(*source), ElementsAre(-1, -1));
  fake_.add_powercap_zone({.dir = "intel-rapl:0", .name = "package-1", .energy = 3});
  fake_.add_powercap_zone({.dir = "intel-rapl:0:0", .name = "dram", .energy = 4});
  EXPECT_THAT(read_all(*source), ElementsAre(-1, -1));
}

TEST_F(PowercapTest, IsNotThereWithoutTheClass) {
  const auto source = open_powercap(fake_.open(), {});
  ASSERT_FALSE(source);
  EXPECT_THAT(source.error().message, EndsWith("/sys/class/powercap: No such file or directory"));
  EXPECT_EQ(source.error().code, ENOENT);
  EXPECT_THAT(powercap_fix(fake_.open(), source.error()), StartsWith("modprobe intel_rapl_msr"));
  fake_.set_cpu_vendor("GenuineIntel", "fpu hypervisor");
  EXPECT_THAT(powercap_fix(fake_.open(), source.error()), StartsWith("This is a virtual machine"));
}

TEST_F(PowercapTest, IsNotThereWithoutRaplZones) {
  fake_.add_powercap_zone({.dir = "dtpm:0", .name = "soc"});
  const auto source = open_powercap(fake_.open(), {});
  ASSERT_FALSE(source);
  EXPECT_THAT(source.error().message, EndsWith("/sys/class/powercap: no RAPL zones"));
  EXPECT_EQ(source.error().code, ENOENT);
}

TEST_F(PowercapTest, IsUnusableWherePsysIsAllThereIs) {
  fake_.add_powercap_zone({.dir = "intel-rapl:0", .name = "psys"});
  const auto source = open_powercap(fake_.open(), {});
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().message, "no zone that is part of the host's total (package, dram)");
}

// Root may read everything: the source is opened in a child that runs as nobody.
TEST_F(PowercapTest, IsUnusableWithoutPermission) {
  add_one_package();
  const auto host = fake_.open();
  ::fflush(nullptr);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) ::_exit(2);
    if (::geteuid() != 65534) ::_exit(3);
    const auto source = open_powercap(host, {});
    const bool reported =
        !source && source.error().code == EACCES &&
        powercap_fix(host, source.error()).starts_with("set AmbientCapabilities=CAP_DAC_READ_SEARCH") &&
        source.error().message.ends_with("intel-rapl:0/energy_uj: Permission denied");
    ::_exit(reported ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 3) GTEST_SKIP() << "only root can become another user who may not read the file";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace keplerd
