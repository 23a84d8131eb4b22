// SPDX-License-Identifier: Apache-2.0
#include "history/shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd::history {
namespace {

using testing::ElementsAre;

WorkloadEnergy unit(const std::string& id, std::int64_t active, std::optional<uid_t> owner = 0) {
  return {{Kind::kUnits, id, owner}, id.substr(id.rfind('/') + 1), {{active}, {0}}};
}

// "ID ENERGY", with the name of what is no unit.
std::vector<std::string> lines(By by, const std::vector<WorkloadEnergy>& workloads) {
  std::vector<std::string> lines;
  for (const Share& share : shares_of(by, workloads))
    lines.push_back(share.id + " " + std::to_string(share.amounts.energy().value));
  return lines;
}

const std::vector<WorkloadEnergy> kUnits = {
    unit("/init.scope", 3),
    unit("/system.slice", 100),
    unit("/system.slice/a.service", 60),
    unit("/system.slice/a.service/inner", 15),
    unit("/user.slice", 50),
    unit("/user.slice/user-1000.slice", 30, 1000),
    unit("/user.slice/user-1000.slice/session-1.scope/deep", 20, 1000)};

TEST(SharesOf, AUnitHasWhatIsNotInAnother) {
  EXPECT_THAT(
      lines(By::kUnit, kUnits),
      ElementsAre("/system.slice/a.service 45", "/system.slice 40", "/user.slice 20",
                  "/user.slice/user-1000.slice/session-1.scope/deep 20", "/system.slice/a.service/inner 15",
                  "/user.slice/user-1000.slice 10", "/init.scope 3"))
      << "one whose parent is not listed is inside the next one above";
}

TEST(SharesOf, ASliceHasTheUnitsThatAreInNoDeeperOne) {
  EXPECT_THAT(lines(By::kSlice, kUnits), ElementsAre("/system.slice 100", "/user.slice/user-1000.slice 30",
                                                     "/user.slice 20", "/-.slice 3"));
}

TEST(SharesOf, AUserHasHisUnits) {
  EXPECT_THAT(lines(By::kUser, kUnits), ElementsAre("0 123", "1000 30"));
  EXPECT_THAT(lines(By::kUser, {unit("/a.service", 1, {})}), ElementsAre("unknown 1"));
}

TEST(SharesOf, AddUpToWhatTheWorkloadsDrew) {
  for (const By by : {By::kUnit, By::kSlice, By::kUser}) {
    std::int64_t sum = 0;
    for (const Share& share : shares_of(by, kUnits)) sum += share.amounts.energy().value;
    EXPECT_EQ(sum, 153) << "the outermost units";
  }
}

TEST(SharesOf, AContainerInsideAnotherIsNotCountedTwice) {
  EXPECT_THAT(lines(By::kContainer, {{{Kind::kContainers, "a", 0}, "a", {{9}, {1}}},
                                     {{Kind::kContainers, "a/b", 0}, "b", {{4}, {0}}},
                                     {{Kind::kContainers, "user-1000/c", 1000}, "c", {{2}, {0}}}}),
              ElementsAre("a 6", "a/b 4", "user-1000/c 2"));
}

TEST(SharesOf, AnIdOfTwoOwnersIsTwoShares) {
  EXPECT_THAT(lines(By::kUnit, {unit("/a.service", 5, 0), unit("/a.service", 7, 1000)}),
              ElementsAre("/a.service 7", "/a.service 5"));
}

}  // namespace
}  // namespace keplerd::history
