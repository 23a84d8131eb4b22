// SPDX-License-Identifier: Apache-2.0
// Which cgroups Groups= names.
#include "meters/counts/wanted_cgroups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_host.h"

namespace keplerd::meters {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class WantedCgroupsTest : public testing::Test {
 protected:
  WantedCgroupsTest() {
    for (const char* const path :
         {"/system.slice", "/system.slice/db.service", "/system.slice/web.service",
          "/system.slice/web.service/db.service", "/machine.slice",
          "/machine.slice/machine-qemu\\x2d1\\x2ddb.scope", "/user.slice", "/user.slice/user-1000.slice",
          "/user.slice/user-1000.slice/user@1000.service",
          "/user.slice/user-1000.slice/user@1000.service/app.slice",
          "/user.slice/user-1000.slice/user@1000.service/app.slice/db.service", "/docker", "/docker/4711"})
      fake_.add_cgroup(path);
  }
  std::vector<std::string> find(std::vector<std::string> patterns) {
    WantedCgroups wanted(host_, std::move(patterns));
    return paths(wanted.find());
  }
  static std::vector<std::string> paths(const std::vector<WantedCgroup>& wanted) {
    std::vector<std::string> found;
    for (const WantedCgroup& one : wanted) found.push_back(one.path);
    return found;
  }

  FakeHost fake_;
  HostRoot host_ = fake_.open();
};

TEST_F(WantedCgroupsTest, ANameIsThatOfAUnitOfTheSystem) {
  EXPECT_THAT(find({"db.service"}), ElementsAre("system.slice/db.service"))
      << "not a cgroup that a user, or what runs in a service, has given this name";
  EXPECT_THAT(find({"machine-*.scope"}), ElementsAre("machine.slice/machine-qemu\\x2d1\\x2ddb.scope"));
  EXPECT_THAT(find({"other.service"}), IsEmpty());
  EXPECT_THAT(find({}), IsEmpty());
}

TEST_F(WantedCgroupsTest, APathIsThatOfAnyCgroup) {
  EXPECT_THAT(find({"/docker/*"}), ElementsAre("docker/4711"));
  EXPECT_THAT(find({"/system.slice/web.service/db.service"}),
              ElementsAre("system.slice/web.service/db.service"));
  EXPECT_THAT(find({"/*/db.service"}), ElementsAre("system.slice/db.service"));
  EXPECT_THAT(find({"/"}), IsEmpty());
}

TEST_F(WantedCgroupsTest, NoneIsInsideAnother) {
  EXPECT_THAT(find({"machine.slice", "machine-*.scope"}), ElementsAre("machine.slice"));
  EXPECT_THAT(find({"/system.slice/web.service", "/system.slice/*/db.service"}),
              ElementsAre("system.slice/web.service"));
}

TEST_F(WantedCgroupsTest, ManyCgroupsOfOnePatternLeaveTheOthersTheirs) {
  for (int i = 0; i < 20'001; ++i)
    std::filesystem::create_directories(*fake_.paths().cgroupfs + "/docker/" + std::to_string(i));
  const auto found = find({"/docker/*", "db.service"});
  EXPECT_EQ(std::ranges::count(found, "system.slice/db.service"), 1);
  EXPECT_LE(found.size(), 20'001U);
}

TEST_F(WantedCgroupsTest, TheLargestAreThoseThatUseTheMostCpuTimeAfterThoseThatAreNamed) {
  WantedCgroups wanted(host_, {"largest", "web.service"});
  const std::string vm = "/machine.slice/machine-qemu\\x2d1\\x2ddb.scope";
  fake_.set_cgroup_usage("/system.slice/db.service", 5'000'000);
  fake_.set_cgroup_usage(vm, 9'000'000);
  const std::string user = "user.slice/user-1000.slice/user@1000.service";
  EXPECT_THAT(paths(wanted.find()), ElementsAre("system.slice/web.service"))
      << "what they use now is not known yet";
  fake_.set_cgroup_usage("/system.slice/db.service", 7'000'000);
  EXPECT_THAT(paths(wanted.find()),
              ElementsAre("system.slice/web.service", "system.slice/db.service", vm.substr(1), user))
      << "since the first time";
}

TEST_F(WantedCgroupsTest, OneBusyMomentDoesNotMakeACgroupLarger) {
  WantedCgroups wanted(host_, {"largest"});
  std::int64_t steady = 0, seldom = 0;
  for (int i = 0; i < 30; ++i) {
    steady += 1'000'000;
    if (i == 29) seldom += 5'000'000;
    fake_.set_cgroup_usage("/system.slice/db.service", steady);
    fake_.set_cgroup_usage("/system.slice/web.service", seldom);
    const auto found = paths(wanted.find());
    ASSERT_EQ(found.empty(), i == 0);
    if (i == 0) continue;
    EXPECT_EQ(found.front(), "system.slice/db.service") << i;
  }
  for (int i = 0; i < 20; ++i) {
    seldom += 1'000'000;
    fake_.set_cgroup_usage("/system.slice/web.service", seldom);
    wanted.find();
  }
  EXPECT_EQ(paths(wanted.find()).front(), "system.slice/web.service");
}

}  // namespace
}  // namespace keplerd::meters
