// SPDX-License-Identifier: Apache-2.0
#include "energy/meters/meter_directories.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "energy/shown_only.h"
#include "support/fake_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class MeterDirectories : public testing::Test {
 protected:
  static std::string directory(const std::string& name) { return "root/run/keplerd-meters/" + name + "/"; }

  void add_meter(const std::string& name, const std::string& covers = "platform") {
    host.write(directory(name) + "covers", covers + "\n");
    host.write(directory(name) + "quality", "measured\n");
    host.write(directory(name) + "energy_uj", "1000\n");
    host.write(directory(name) + "boottime_us", "100000000\n");
  }
  void update(const std::string& name, const std::string& energy, const std::string& time) {
    host.write(directory(name) + "energy_uj", energy);
    host.write(directory(name) + "boottime_us", time);
  }
  std::string path(const std::string& name) const {
    return host.paths().root + "/run/keplerd-meters/" + name;
  }

  void open(const std::vector<std::string>& names = {}) {
    source = open_meter_directories(host.open(), names, [this] { return now; });
  }
  std::vector<std::string> ids() {
    open();
    std::vector<std::string> ids;
    for (const Zone& zone : source->zones()) ids.push_back(zone.id);
    return ids;
  }
  // What is read of each: the counter, or the error.
  std::vector<std::string> read() {
    ZoneReadings readings;
    source->read(0s, readings);
    std::vector<std::string> texts;
    for (const auto& one : readings) texts.push_back(one ? std::to_string(one->value) : one.error().message);
    return texts;
  }
  std::vector<std::string> left_out() {
    std::vector<std::string> texts;
    for (const LeftOut& one : meters_left_out(host.open())) texts.push_back(one.what + ": " + one.why);
    return texts;
  }

  FakeHost host;
  Nanoseconds now = 101s;
  std::unique_ptr<EnergySource> source;
};

TEST_F(MeterDirectories, AreZonesOfTheirOwnThatAreNotDivided) {
  add_meter("plug");
  add_meter("cards", "gpu");
  EXPECT_THAT(ids(), ElementsAre("cards:gpu:0", "plug:platform:0"));
  for (const Zone& zone : source->zones()) {
    EXPECT_FALSE(zone.in_total);
    EXPECT_EQ(zone.quality, Quality::kMeasured);
  }
  EXPECT_EQ(source->zones()[0].resource, Resource::kGpu);
  EXPECT_EQ(source->zones()[1].resource, Resource::kNone);
  EXPECT_THAT(read(), ElementsAre("1000", "1000"));
  EXPECT_THAT(left_out(), IsEmpty());
}

TEST_F(MeterDirectories, AreReadWhenTheyChange) {
  add_meter("plug");
  open();
  now = 102s;
  EXPECT_THAT(read(), ElementsAre("1000"));
  update("plug", "2000\n", "102000000\n");
  now = 103s;
  EXPECT_THAT(read(), ElementsAre("1500"));
  now = 104s;
  EXPECT_THAT(read(), ElementsAre("2000"));
}

// keplerd looks at one in five of those that are written each second.
TEST_F(MeterDirectories, TheDelayIsThatOfTheReadingsThatAreWritten) {
  add_meter("plug");
  open();
  read();
  int second = 100;
  for (const int pace : {1, 5, 5, 5, 1, 1, 1}) {
    for (int i = 0; i < pace; ++i) {
      ++second;
      update("plug", std::to_string(second * 10) + "\n", std::to_string(second) + "000000\n");
    }
    now = std::chrono::seconds(second) + 1s;
    EXPECT_THAT(read(), ElementsAre(std::to_string(second * 10)));
  }
}

TEST_F(MeterDirectories, APowerIsAModelOfTheEnergy) {
  add_meter("plug");
  host.remove(directory("plug") + "energy_uj");
  host.write(directory("plug") + "power_uw", "60000000");
  open();
  EXPECT_EQ(source->zones().at(0).quality, Quality::kModelled);
  EXPECT_TRUE(source->zones().at(0).begins_anew);
  read();
  host.write(directory("plug") + "boottime_us", "102000000");
  now = 104s;
  EXPECT_THAT(read(), ElementsAre("120000000"));
}

TEST_F(MeterDirectories, AProgramMayHaveSeveralMeters) {
  add_meter("nvidia/0000:65:00.0", "gpu");
  add_meter("nvidia/0000:17:00.0", "gpu");
  EXPECT_THAT(ids(), ElementsAre("nvidia:gpu:0", "nvidia:gpu:1"));
}

TEST_F(MeterDirectories, OnesThatComeOrAreCompletedLaterMakeTheSourceOutdated) {
  open();
  EXPECT_FALSE(source->outdated());
  host.write(directory("plug") + "covers", "platform");
  EXPECT_TRUE(source->outdated());
  EXPECT_THAT(ids(), IsEmpty());
  EXPECT_FALSE(source->outdated());
  add_meter("plug");
  EXPECT_TRUE(source->outdated());
  EXPECT_THAT(ids(), ElementsAre("plug:platform:0"));
}

TEST_F(MeterDirectories, OneThatIsMadeAgainMakesTheSourceOutdated) {
  add_meter("plug");
  open();
  std::filesystem::rename(path("plug"), host.paths().root + "/old");  // keeps its inode from being used again
  EXPECT_TRUE(source->outdated());
  add_meter("plug");
  EXPECT_TRUE(source->outdated());
  open();
  EXPECT_FALSE(source->outdated());
}

TEST_F(MeterDirectories, OldAndWrongReadingsAreErrors) {
  add_meter("plug");
  open();
  now = 200s;
  EXPECT_THAT(read(), ElementsAre("its last reading is 100 s old"));
  update("plug", "lots", "199000000");
  EXPECT_THAT(read(), ElementsAre("its value is 'lots' (expected a number that is not negative)"));
  update("plug", "2000", "199000000");
  EXPECT_THAT(read(), ElementsAre("2000"));
  std::filesystem::remove_all(path("plug"));
  EXPECT_THAT(read(), ElementsAre("its value or boottime_us is missing"));
}

TEST_F(MeterDirectories, WhatIsNoMeterIsLeftOutWithTheReason) {
  add_meter("powercap");
  add_meter("A b");
  add_meter("wrong", "universe");
  host.write(directory("empty") + "x", "");
  host.remove(directory("empty") + "x");
  host.write("root/run/keplerd-meters/file", "");
  std::filesystem::create_directory_symlink("/", path("link"));
  EXPECT_THAT(ids(), IsEmpty());
  EXPECT_THAT(left_out(),
              ElementsAre("meter A b: is not a name for a meter", "meter empty: is empty",
                          "meter file: is not a directory", "meter link: is not a directory",
                          "meter powercap: is not a name for a meter",
                          "meter wrong: covers is 'universe' (expected platform, cpu, gpu or other)"));
}

TEST_F(MeterDirectories, NothingButSmallRegularFilesIsRead) {
  for (const char* name : {"link", "fifo", "large", "device"}) add_meter(name);
  const auto replace = [&](const std::string& name) {
    std::filesystem::remove(path(name + "/energy_uj"));
    return path(name + "/energy_uj");
  };
  std::filesystem::create_symlink("/etc/passwd", replace("link"));
  ASSERT_EQ(::mkfifo(replace("fifo").c_str(), 0644), 0);
  host.write(directory("large") + "energy_uj", "1");
  std::filesystem::resize_file(path("large/energy_uj"), 1 << 30);
  std::filesystem::create_directory(replace("device"));
  EXPECT_THAT(ids(), IsEmpty());
  EXPECT_THAT(left_out(), ElementsAre("meter device: energy_uj is not a regular file",
                                      "meter fifo: energy_uj is not a regular file",
                                      "meter large: energy_uj is too large",
                                      "meter link: energy_uj is not a regular file"));
}

TEST_F(MeterDirectories, WhatBelongsToAnotherUserIsLeftOut) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to give files away";
  add_meter("file");
  add_meter("outer/inner");
  ASSERT_EQ(::chown(path("file/energy_uj").c_str(), 1000, 1000), 0);
  ASSERT_EQ(::chown(path("outer/inner").c_str(), 1000, 1000), 0);
  EXPECT_THAT(ids(), IsEmpty());
  EXPECT_THAT(left_out(),
              ElementsAre("meter file: energy_uj does not belong to the owner of the directory",
                          "meter outer/inner: does not belong to the owner of the directory around it"));
}

TEST_F(MeterDirectories, OnlyRootAddsMeters) {
  add_meter("plug");
  std::filesystem::permissions(path(""), std::filesystem::perms::all);
  EXPECT_THAT(ids(), IsEmpty());
  EXPECT_THAT(left_out(), ElementsAre("meter directories: can be written to by others than root"));
}

TEST_F(MeterDirectories, TooManyAreLeftOut) {
  for (std::size_t i = 0; i < kMostMeters + 2; ++i) add_meter("m" + std::to_string(i));
  EXPECT_EQ(ids().size(), kMostMeters);
  EXPECT_THAT(left_out(), ElementsAre("meter m8: there are more than 64 meters",
                                      "meter m9: there are more than 64 meters"));
}

TEST_F(MeterDirectories, AreShownBesideTheOthers) {
  add_meter("plug");
  const auto shown = open_shown_only(host.open(), {}, [this] { return now; });
  ASSERT_NE(shown, nullptr);
  EXPECT_EQ(shown->zones().at(0).id, "plug:platform:0");
  EXPECT_EQ(coverage_of(shown->zones().at(0)), Coverage::kPlatform);
  ZoneReadings readings;
  shown->read(0s, readings);
  ReadingAges ages;
  shown->ages(ages);
  ASSERT_EQ(ages.size(), 1U);
  EXPECT_TRUE(ages[0]);
  EXPECT_EQ(open_shown_only(host.open(), {"package"}), nullptr) << "Zones= chooses";
}

}  // namespace
}  // namespace keplerd
