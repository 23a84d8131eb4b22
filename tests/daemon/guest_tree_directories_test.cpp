// SPDX-License-Identifier: Apache-2.0
// The directories of guests' meters: when they come and go, and what guests may do to them.
#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "daemon/guest_trees_host.h"
#include "daemon/publish/guest_trees.h"

namespace keplerd {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(GuestTreesTest, KeepTheirDirectoryAcrossARestartOfKeplerd) {
  publish();
  struct stat before {
  }, after{};
  ASSERT_EQ(::stat(tree().c_str(), &before), 0);
  start({"all"});
  vms.clear();  // not found by the first sample
  publish();
  EXPECT_EQ(read("intel-rapl:0/energy_uj"), "7000000\n");
  vms = {{.id = kWeb, .name = "web", .package = 9'000'000}};
  publish();
  ASSERT_EQ(::stat(tree().c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_EQ(read("intel-rapl:0/energy_uj"), "9000000\n");
}

TEST_F(GuestTreesTest, DoNotGoBackWhereTotalsWereNotSaved) {
  vms[0].package = 500'000'000;
  vms[0].sockets = 2;
  publish();
  start({"all"});
  vms[0].package = 480'500'000;
  publish();
  EXPECT_EQ(read("intel-rapl:0/energy_uj"), "250000000\n");
  EXPECT_EQ(read("intel-rapl:1/energy_uj"), "250000000\n");
  vms[0].package = 501'000'000;
  publish();
  EXPECT_EQ(read("intel-rapl:0/energy_uj"), "251000000\n");
}

TEST_F(GuestTreesTest, BeginAnewWhereTotalsDo) {
  vms[0].package = 90'000'000'000;
  publish();
  start({"all"});
  vms[0].package = 1'000'000;
  publish();
  EXPECT_EQ(read("intel-rapl:0/energy_uj"), "1000000\n");
}

TEST_F(GuestTreesTest, HaveTheZonesThatTheMachineHasNow) {
  vms[0].sockets = 2;
  publish();
  vms[0].sockets = 1;
  has_dram = false;
  publish();
  EXPECT_EQ(names(tree()), (std::set<std::string>{"intel-rapl:0", "quality"}));
  EXPECT_EQ(read("intel-rapl:0/energy_uj"), "7000000\n");
  start({"all"});
  vms[0].sockets = 3;
  publish();
  EXPECT_EQ(read("intel-rapl:0/energy_uj"), "3000000\n");
  EXPECT_EQ(read("intel-rapl:2/energy_uj"), "2000000\n");
}

TEST_F(GuestTreesTest, GoWithTheirMachine) {
  publish();
  vms[0].running = false;
  publish();
  EXPECT_THAT(names(tree()), IsEmpty());
  EXPECT_TRUE(fs::exists(tree())) << "for one that is started again at once";
  publish();
  EXPECT_FALSE(fs::exists(tree()));
  EXPECT_THAT(complaints, IsEmpty());
}

TEST_F(GuestTreesTest, AreTheSameDirectoryForAMachineThatComesBackAtOnce) {
  publish();
  struct stat before {
  }, after{};
  ASSERT_EQ(::stat(tree().c_str(), &before), 0);
  vms[0].running = false;
  publish();
  vms[0].running = true;
  for (int i = 0; i < 3; ++i) publish();
  ASSERT_EQ(::stat(tree().c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_EQ(read("intel-rapl:0/energy_uj"), "7000000\n");
}

TEST_F(GuestTreesTest, AreThereBeforeTheMachineWhereItsUuidIsListed) {
  start({kWeb});
  vms.clear();
  publish();
  EXPECT_TRUE(fs::exists(tree()));
  vms = {{.id = kWeb, .name = "web"}};
  publish();
  vms[0].running = false;
  for (int i = 0; i < 4; ++i) publish();
  EXPECT_TRUE(fs::exists(tree()));
  EXPECT_THAT(names(tree()), IsEmpty());
}

TEST_F(GuestTreesTest, OthersThingsInTheirDirectoryStay) {
  fs::create_directories(tree(kDb));               // created for a VM that is yet to start
  fs::create_directories(base / "guests/mine/x");  // not ours
  for (int i = 0; i < 4; ++i) publish();
  EXPECT_EQ(names(base / "guests"), (std::set<std::string>{kWeb, kDb, "mine"}));
  EXPECT_TRUE(fs::exists(base / "guests/mine/x"));
}

TEST_F(GuestTreesTest, OfAnEarlierRunAreRemovedWithTheirContents) {
  fs::create_directories(tree(kDb) / "intel-rapl:0");
  for (int i = 0; i < 3; ++i) publish();
  EXPECT_THAT(names(base / "guests"), ElementsAre(kWeb));
}

// --- what a guest may have done to its directory, if it is writable for it

TEST_F(GuestTreesTest, LinksOfAGuestLeadNowhere) {
  fs::create_directories(base / "host");
  std::ofstream(base / "host/energy_uj") << "precious";
  publish();
  fs::remove_all(tree() / "intel-rapl:0");
  fs::create_directory_symlink(base / "host", tree() / "intel-rapl:0");
  for (int i = 0; i < 3; ++i) {
    vms[0].package += 5'000'000;
    publish();
  }
  std::ifstream file(base / "host/energy_uj");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "precious");
  EXPECT_EQ(names(base / "host"), (std::set<std::string>{"energy_uj"}));
  // A file that is a link is replaced, and its target is not written to.
  fs::remove(tree() / "intel-rapl:0:0/energy_uj");
  fs::create_symlink(base / "host/energy_uj", tree() / "intel-rapl:0:0/energy_uj");
  fs::create_symlink(base / "host/energy_uj", tree() / "intel-rapl:0:0/.new");
  vms[0].dram += 5'000'000;
  publish();
  std::ifstream again(base / "host/energy_uj");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(again), {}), "precious");
}

TEST_F(GuestTreesTest, AGuestThatSpoilsItsDirectoryCostsTheOthersNothing) {
  vms.push_back({.id = kDb, .name = "db", .package = 1'000'000});
  publish();
  fs::remove(tree() / "quality");
  fs::create_directories(tree() / "quality/x");
  fs::remove_all(tree() / "intel-rapl:0");
  std::ofstream(tree() / "intel-rapl:0") << "no directory";
  for (int i = 0; i < 6; ++i) {
    vms[0].package += 5'000'000;
    vms[1].package += 5'000'000;
    publish();
    EXPECT_EQ(read("intel-rapl:0/energy_uj", kDb), std::to_string(vms[1].package) + "\n");
  }
  EXPECT_LE(complaints.size(), 2U) << "no more than a line a minute";
}

TEST_F(GuestTreesTest, APersistentProblemIsLoggedOnceAMinute) {
  vms.push_back({.id = kDb, .name = "db", .package = 1'000'000});
  fs::create_directories(base / "guests");
  std::ofstream(base / "guests" / kWeb) << "no directory";
  for (int i = 0; i < 12; ++i) publish();
  EXPECT_THAT(complaints, ElementsAre(HasSubstr(kWeb), HasSubstr("Not a directory")));
  EXPECT_EQ(read("intel-rapl:0/energy_uj", kDb), "1000000\n");
}

TEST_F(GuestTreesTest, ADirectoryThatIsRemovedIsMadeAgain) {
  publish();
  fs::remove_all(tree());
  vms[0].package += 5'000'000;
  publish();
  publish();
  EXPECT_EQ(read("intel-rapl:0/name"), "package-0\n");
  EXPECT_EQ(read("intel-rapl:0/energy_uj"), "12000000\n");
}

TEST_F(GuestTreesTest, WhatAGuestWritesIntoItsCounterIsNotBelieved) {
  publish();
  start({"all"});
  for (const std::string text : {"9223372036854775807\n", "99999999999999\n", "-5\n", "x", ""}) {
    fs::remove(tree() / "intel-rapl:0/energy_uj");
    std::ofstream(tree() / "intel-rapl:0/energy_uj") << text;
    start({"all"});
    publish();
    EXPECT_EQ(read("intel-rapl:0/energy_uj"), "7000000\n") << text;
  }
}

TEST_F(GuestTreesTest, CleaningUpIsBoundedAndEnds) {
  publish();
  for (int i = 0; i < 1200; ++i) std::ofstream(tree() / ("file" + std::to_string(i))) << "x";
  std::string deep = tree();
  for (int i = 0; i < 300; ++i) {
    deep += "/d";
    fs::create_directory(deep);
  }
  fs::create_directory_symlink(base, tree() / "out");
  ASSERT_EQ(::mkfifo((tree() / "fifo").c_str(), 0600), 0);
  vms[0].running = false;
  publish();
  EXPECT_GT(names(tree()).size(), 500U) << "not all of it at once";
  for (int i = 0; i < 8; ++i) publish();
  EXPECT_FALSE(fs::exists(tree()));
  EXPECT_TRUE(fs::exists(base / "guests")) << "no link was followed";
  EXPECT_THAT(complaints, IsEmpty());
}

// --- end to end: a host writes, and keplerd in the guest reads and divides it again

}  // namespace
}  // namespace keplerd
