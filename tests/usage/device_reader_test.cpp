// SPDX-License-Identifier: Apache-2.0
// The use of graphics cards on written hosts, from the files of other programs to the processes and groups of
// a sample.
#include "usage/device_reader.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/kept_file.h"
#include "support/fake_host.h"
#include "usage/usage_reader.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kCard[] = "0000:03:00.0";

class DeviceReaderTest : public testing::Test {
 protected:
  DeviceReaderTest() {
    fake_.add_cgroup("/a.service");
    fake_.add_cgroup("/b.service");
    fake_.add_process({.pid = 10, .start = 1, .cgroup = "/a.service"});
    fake_.add_process({.pid = 20, .start = 2, .cgroup = "/b.service"});
    fake_.add_process({.pid = 30, .start = 3});
  }

  // `lines`: of processes. A second after the last one.
  void report(const std::string& lines, const std::string& file = std::string("drm/") + kCard) {
    fake_.write("root/run/keplerd-usage/" + file, std::to_string(to_usec(now_)) + "\n" + lines);
  }
  void read(Nanoseconds after = 1s) {
    now_ += after;
    ASSERT_TRUE(reader_.read(now_, sample_));
  }
  // A window in which a program reports `lines`.
  void window(const std::string& lines) {
    now_ += 1s;
    report(lines);
    ASSERT_TRUE(reader_.read(now_, sample_));
  }

  // "PATH PID MILLISECONDS", sorted; pid 0: of no process.
  std::vector<std::string> uses(std::size_t device = 0) const {
    std::vector<std::string> texts;
    for (const EngineUse& use : sample_.devices.at(device).uses) {
      const std::string path = use.group == kNoGroup ? "/" : std::string(sample_.groups[use.group].path);
      const int pid = use.process == kNoProcess ? 0 : sample_.processes[use.process].id.pid;
      texts.push_back(path + " " + std::to_string(pid) + " " + std::to_string(use.time / 1ms));
    }
    std::ranges::sort(texts);
    return texts;
  }

  FakeHost fake_;
  HostRoot host_ = fake_.open();
  UsageReader reader_{host_};
  UsageSample sample_;
  Nanoseconds now_ = 100s;
};

TEST_F(DeviceReaderTest, UsersAreInTheSampleThoughTheyHaveNotRun) {
  window("10 1 0\n");
  EXPECT_THAT(sample_.devices, IsEmpty());
  window("10 1 300000000\n20 2 100000000\n30 3 5000000\n");
  ASSERT_EQ(sample_.devices.size(), 1U);
  EXPECT_EQ(sample_.devices[0].address, kCard);
  EXPECT_FALSE(reader_.devices().why_unknown(kCard));
  EXPECT_THAT(uses(), ElementsAre("/ 30 5", "/a.service 10 300", "/b.service 20 100"));
  for (const ProcessUsage& process : sample_.processes) EXPECT_EQ(process.before->usage, process.usage);
}

TEST_F(DeviceReaderTest, AProcessThatRanIsThereOnce) {
  window("10 1 0\n");
  fake_.set_process_time(10, 50);
  fake_.set_cgroup_usage("/a.service", 500'000);
  window("10 1 300000000\n");
  EXPECT_THAT(uses(), ElementsAre("/a.service 10 300"));
  EXPECT_EQ(std::ranges::count(sample_.processes, 10, [](const auto& p) { return p.id.pid; }), 1);
}

// Else the next run would take what it has used since as used while keplerd was not running.
TEST_F(DeviceReaderTest, TheTimeOfAUserThatWasNotReadIsNotSaved) {
  window("10 1 0\n");
  now_ += 10s;
  window("10 1 0\n");
  reader_.demand({.all = false, .needed = {}, .groups = {}});
  for (int i = 1; i <= 2; ++i) {
    fake_.set_process_time(10, i * 50);
    fake_.set_cgroup_usage("/a.service", i * 500'000);
    window(fmt::format("10 1 {}\n", i * 100'000'000));
    EXPECT_THAT(uses(), ElementsAre("/a.service 10 100"));
    for (const SavedUsage::Process& process : reader_.changed(sample_).processes)
      EXPECT_NE(process.id.pid, 10) << i;
  }
}

TEST_F(DeviceReaderTest, WhatIsNewOrMovedOrEndedIsOfItsGroup) {
  window("");
  fake_.add_process({.pid = 40, .start = 4, .cgroup = "/b.service"});
  fake_.move_process(20, "/a.service");
  window("10 1 100000000\n20 2 20000000\n40 4 40000000\n");
  EXPECT_THAT(uses(), ElementsAre("/a.service 0 20", "/a.service 10 100", "/b.service 0 40"));
  fake_.remove_process(10);
  window("10 1 150000000\n20 2 20000000\n40 4 40000000\n");
  EXPECT_THAT(uses(), ElementsAre("/a.service 0 50")) << "its last piece";
  fake_.remove_cgroup("/a.service");
  window("10 1 200000000\n");
  EXPECT_THAT(uses(), ElementsAre("/ 0 50")) << "of nobody that is known";
}

TEST_F(DeviceReaderTest, AnotherProcessWithItsPidIsNotIt) {
  window("");
  window("10 777 100000000\n999 1 7000000\n");
  EXPECT_THAT(uses(), ElementsAre("/ 0 100", "/ 0 7"));
}

TEST_F(DeviceReaderTest, TwoCardsAreTwoDevicesAndAreReadFromOneDirectoryEach) {
  now_ += 1s;
  for (int i = 0; i < 2; ++i) {
    report("10 1 0\n");
    report("20 2 " + std::to_string(i * 7'000'000) + "\n", "drm/0000:04:00.0");
    report("20 2 " + std::to_string(i * 9'000'000) + "\n", "other/0000:04:00.0");
    read();
  }
  ASSERT_EQ(sample_.devices.size(), 2U);
  EXPECT_EQ(sample_.devices[1].address, "0000:04:00.0");
  EXPECT_THAT(uses(0), IsEmpty());
  EXPECT_THAT(uses(1), ElementsAre("/b.service 20 7"));
  EXPECT_THAT(reader_.devices().left_out(),
              ElementsAre("other/0000:04:00.0: is not read, because of drm/0000:04:00.0"));
}

TEST_F(DeviceReaderTest, AProgramThatStopsOrFailsIsNotBelieved) {
  window("10 1 0\n");
  window("10 1 100000000\n");
  read(1s);
  EXPECT_EQ(sample_.devices.size(), 1U) << "as before";
  read(10s);
  EXPECT_THAT(sample_.devices, IsEmpty());
  EXPECT_THAT(*reader_.devices().why_unknown(kCard), HasSubstr("no two readings of the last seconds"));
  window("garbage\n");
  EXPECT_THAT(sample_.devices, IsEmpty());
  EXPECT_THAT(*reader_.devices().why_unknown(kCard),
              HasSubstr("/run/keplerd-usage/drm/0000:03:00.0: line 2"));
  EXPECT_THAT(*reader_.devices().why_unknown("0000:99:00.0"), HasSubstr("no program reports"));
  EXPECT_THAT(*reader_.devices().why_unknown(""), HasSubstr("address of the card is not known"));
}

TEST_F(DeviceReaderTest, AProgramThatIsRestartedBeginsAnew) {
  window("10 1 0\n");
  window("10 1 100000000\n");
  std::filesystem::remove_all(fake_.paths().root + "/run/keplerd-usage/drm");
  report("10 1 150000000\n");
  read(10s);
  EXPECT_THAT(sample_.devices, IsEmpty()) << "of its own clocks, which began at another time";
  window("10 1 170000000\n");
  EXPECT_THAT(uses(), ElementsAre("/a.service 10 20"));
}

TEST_F(DeviceReaderTest, HostileDirectoriesAreLeftOut) {
  const std::string root = fake_.paths().root + "/run/keplerd-usage";
  std::filesystem::create_directories(root + "/drm");
  fake_.write("root/secret", "1\n");
  std::filesystem::create_symlink(fake_.paths().root + "/secret", root + "/drm/0000:05:00.0");
  ASSERT_EQ(::mkfifo((root + "/drm/0000:06:00.0").c_str(), 0600), 0);
  fake_.write("root/run/keplerd-usage/drm/0000:07:00.0", std::string(kLongestUsageFile + 1, '1'));
  fake_.write("root/run/keplerd-usage/drm/..evil", "1\n");
  std::filesystem::create_symlink("drm", root + "/link");
  read();
  for (const char* address : {"0000:05:00.0", "0000:06:00.0"})
    EXPECT_THAT(*reader_.devices().why_unknown(address), HasSubstr("is not a regular file")) << address;
  EXPECT_THAT(*reader_.devices().why_unknown("0000:07:00.0"), HasSubstr("is too large"));
  EXPECT_THAT(reader_.devices().left_out(), ElementsAre(HasSubstr("link: is not a directory"),
                                                        HasSubstr("drm/..evil: is neither a PCI address")));
  std::filesystem::permissions(root, std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  read(10s);
  EXPECT_THAT(reader_.devices().left_out(), ElementsAre(HasSubstr("can be written to by others than root")));
}

TEST_F(DeviceReaderTest, TheTrafficOfAMemoryIsThatOfTheGroupsOfTheSample) {
  const auto identity = [&](const char* path) {
    return std::to_string(*read_identity(*host_.cgroupfs(), path));
  };
  const auto traffic = [&](int all, int a, int gone) {
    now_ += 1s;
    fake_.write("root/run/keplerd-usage/resctrl/memory-1",
                fmt::format("{} 1 {}\n{} {} 1\n999999999999 {} 1\n", to_usec(now_), all,
                            identity("a.service"), a, gone));
    ASSERT_TRUE(reader_.read(now_, sample_));
  };
  traffic(1000, 10, 20);
  EXPECT_THAT(sample_.counts, IsEmpty());
  traffic(5000, 510, 220);
  ASSERT_EQ(sample_.counts.size(), 1U);
  const GroupCounts& memory = sample_.counts[0];
  EXPECT_EQ(memory.source, (CountSource{CountKind::kMemoryTraffic, 1}));
  EXPECT_EQ(memory.all, Count{4000});
  ASSERT_EQ(memory.groups.size(), 1U) << "of a cgroup that is not in the sample, nothing can be charged";
  EXPECT_EQ(sample_.groups[memory.groups[0].group].path, "/a.service");
  EXPECT_EQ(memory.groups[0].count, Count{500});
  EXPECT_THAT(sample_.devices, IsEmpty());
  EXPECT_THAT(reader_.devices().left_out(), IsEmpty());
  fake_.remove_cgroup("/a.service");
  fake_.add_cgroup("/a.service");
  now_ += 1s;
  ASSERT_TRUE(reader_.read(now_, sample_));
  EXPECT_THAT(sample_.counts.at(0).groups, IsEmpty()) << "another one under the same name";
  read(10s);
  EXPECT_THAT(sample_.counts, IsEmpty()) << "the program has stopped";
}

TEST_F(DeviceReaderTest, TheEnergyOfCoresIsAnotherCount) {
  for (const int second : {1, 2}) {
    now_ += 1s;
    for (const char* const file : {"memory-0", "cores-0"})
      fake_.write(std::string("root/run/keplerd-usage/resctrl/") + file,
                  fmt::format("{} 1 {}\n", to_usec(now_), second * (file[0] == 'm' ? 1000 : 50)));
    ASSERT_TRUE(reader_.read(now_, sample_));
  }
  ASSERT_EQ(sample_.counts.size(), 2U);
  EXPECT_EQ(sample_.counts[0].source, (CountSource{CountKind::kCoreEnergy, 0}));
  EXPECT_EQ(sample_.counts[0].all, Count{50});
  EXPECT_EQ(sample_.counts[1].all, Count{1000});
}

TEST_F(DeviceReaderTest, FilesOfAnotherOwnerAreNotRead) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give files away";
  report("10 1 0\n");
  const std::string file = fake_.paths().root + "/run/keplerd-usage/drm/" + kCard;
  ASSERT_EQ(::chown(file.c_str(), 1000, 1000), 0);
  read();
  EXPECT_THAT(*reader_.devices().why_unknown(kCard),
              HasSubstr("does not belong to the owner of the directory"));
}

}  // namespace
}  // namespace keplerd
