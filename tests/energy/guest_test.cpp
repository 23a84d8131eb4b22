// SPDX-License-Identifier: Apache-2.0
#include "energy/guest.h"

#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "energy/select_source.h"
#include "energy/source_keeper.h"
#include "support/fake_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<std::int64_t> read_all(EnergySource& source) {
  ZoneReadings readings;
  source.read({}, readings);
  std::vector<std::int64_t> energies;
  for (const auto& reading : readings) energies.push_back(reading ? reading->value : -1);
  return energies;
}

class GuestTest : public ::testing::Test {
 protected:
  void add(const std::string& directory, const std::string& name, std::int64_t energy,
           const std::string& meter = "/run/keplerd-meter") {
    const std::string path = "root" + meter + "/" + directory;
    fake.write(path + "/name", name + "\n");
    fake.write(path + "/max_energy_range_uj", "9223372036854775807\n");
    fake.write(path + "/energy_uj", std::to_string(energy) + "\n");
  }
  std::unique_ptr<EnergySource> open(const std::vector<std::string>& names = {}) {
    auto source = open_guest(fake.open(), names, kDefaultGuestMeter);
    if (!source) ADD_FAILURE() << source.error().message;
    return source ? *std::move(source) : nullptr;
  }
  std::string energy_file(const std::string& directory) {
    return "root/run/keplerd-meter/" + directory + "/energy_uj";
  }

  FakeHost fake;
};

TEST_F(GuestTest, ReadsThePowercapFormAsZonesOfItsOwn) {
  add("intel-rapl:0", "package-0", 7'000'000);
  add("intel-rapl:0:0", "dram", 2'000'000);
  add("intel-rapl:1", "package-1", 6'000'000);
  add("intel-rapl:1:0", "dram", 1'000'000);
  const auto source = open();
  EXPECT_EQ(source->name(), "guest");
  EXPECT_TRUE(source->moves_in_steps());
  EXPECT_THAT(read_all(*source), ElementsAre(7'000'000, 6'000'000, 2'000'000, 1'000'000));
  const Zone& zone = source->zones()[1];
  EXPECT_EQ(zone.id, "guest:package:1");
  EXPECT_EQ(zone.name, "package");
  EXPECT_TRUE(zone.in_total);
  EXPECT_EQ(zone.range, Microjoules{INT64_MAX});
}

TEST_F(GuestTest, IsAtBestAttributedAndWorseWhereTheHostSaysSo) {
  add("intel-rapl:0", "package-0", 0);
  EXPECT_EQ(open()->zones()[0].quality, Quality::kAttributed) << "Scaphandre says nothing";
  for (const auto& [text, quality] :
       {std::pair("measured\n", Quality::kAttributed), std::pair("attributed\n", Quality::kAttributed),
        std::pair("estimated\n", Quality::kEstimated), std::pair("simulated\n", Quality::kSimulated),
        std::pair("excellent\n", Quality::kAttributed), std::pair("", Quality::kAttributed)}) {
    fake.write("root/run/keplerd-meter/quality", text);
    EXPECT_EQ(open()->zones()[0].quality, quality) << text;
  }
}

TEST_F(GuestTest, ScaphandresTreeHasNoNames) {
  fake.write(energy_file("intel-rapl:0"), "7000000");
  const auto source = open_guest(fake.open(), {}, kDefaultGuestMeter);
  ASSERT_FALSE(source);
  EXPECT_THAT(source.error().message, EndsWith("/run/keplerd-meter: no RAPL zones"));
}

TEST_F(GuestTest, StandsBetweenPowercapAndHwmon) {
  const SourceChoice choice;
  EXPECT_FALSE(select_source(fake.open(), choice));
  add("intel-rapl:0", "package-0", 0);
  EXPECT_EQ((*select_source(fake.open(), choice))->name(), "guest");
  fake.add_powercap_zone({.dir = "intel-rapl:0", .name = "package-0"});
  EXPECT_EQ((*select_source(fake.open(), choice))->name(), "powercap");
  EXPECT_EQ((*select_source(fake.open(), {.source = "guest"}))->name(), "guest");
}

TEST_F(GuestTest, IsTakenFromWhereTheConfigurationSays) {
  add("intel-rapl:0", "package-0", 5'000'000, "/var/scaphandre");
  const auto source = select_source(fake.open(), {.guest_meter = "/var/scaphandre"});
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_THAT(read_all(**source), ElementsAre(5'000'000));
}

TEST_F(GuestTest, AFixIsSuggestedInAVirtualMachineOnly) {
  const auto source = open_guest(fake.open(), {}, kDefaultGuestMeter);
  ASSERT_FALSE(source);
  EXPECT_THAT(source.error().message, EndsWith("root/run/keplerd-meter: No such file or directory"));
  EXPECT_EQ(source.error().code, ENOENT);
  EXPECT_EQ(guest_fix(fake.open(), source.error()), "");
  fake.set_cpu_vendor("GenuineIntel", "fpu hypervisor");
  EXPECT_THAT(guest_fix(fake.open(), source.error()), StartsWith("This is a virtual machine"));
}

TEST_F(GuestTest, AnInvalidCounterIsAnErrorOfItsZoneAndNeverBlocks) {
  add("intel-rapl:0", "package-0", 1'000'000);
  add("intel-rapl:1", "package-1", 2'000'000);
  const auto source = open();
  const auto path = fake.paths().root + "/run/keplerd-meter/intel-rapl:0/energy_uj";
  for (const std::string text : {"", "abc", "-1", "9223372036854775808", "0x10"}) {
    fake.write(energy_file("intel-rapl:0"), text);
    EXPECT_THAT(read_all(*source), ElementsAre(-1, 2'000'000)) << text;
  }
  fake.write(energy_file("intel-rapl:0"), std::string(1 << 20, '1'));
  EXPECT_THAT(read_all(*source), ElementsAre(-1, 2'000'000));
  fake.remove(energy_file("intel-rapl:0"));
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(read_all(*source), ElementsAre(-1, 2'000'000));
  fake.link(energy_file("intel-rapl:0"), "/dev/zero");
  EXPECT_THAT(read_all(*source), ElementsAre(-1, 2'000'000));
  fake.link(energy_file("intel-rapl:0"), "energy_uj");
  EXPECT_THAT(read_all(*source), ElementsAre(-1, 2'000'000));
  fake.break_file(energy_file("intel-rapl:0"));
  EXPECT_THAT(read_all(*source), ElementsAre(-1, 2'000'000));
  fake.write(energy_file("intel-rapl:0"), "3000000\n");
  EXPECT_THAT(read_all(*source), ElementsAre(3'000'000, 2'000'000));
}

TEST_F(GuestTest, TooManyZonesAreCut) {
  for (int i = 0; i < 1030; ++i) add("intel-rapl:" + std::to_string(i), "package-" + std::to_string(i), 0);
  EXPECT_EQ(open()->zones().size(), 1024U);
}

TEST_F(GuestTest, AnotherQualityIsTakenUp) {
  add("intel-rapl:0", "package-0", 0);
  const HostRoot host = fake.open();
  SourceKeeper keeper(host, {});
  EXPECT_TRUE(keeper.scan(1s));
  EXPECT_FALSE(keeper.scan(12s));
  fake.write("root/run/keplerd-meter/quality", "estimated\n");
  EXPECT_THAT(keeper.scan(24s).value_or(""), HasSubstr("new zones of energy source guest"));
  EXPECT_EQ(keeper.zones()[0].quality, Quality::kEstimated);
  EXPECT_FALSE(keeper.scan(36s));
}

}  // namespace
}  // namespace keplerd
