// SPDX-License-Identifier: Apache-2.0
#include "history/access.h"

#include <array>

#include <gtest/gtest.h>

namespace keplerd::history {
namespace {

constexpr Access kAccess{.own = 990, .group = 991};
constexpr std::array<gid_t, 2> kMember = {100, 991}, kNobody = {100, 101};

TEST(HistoryAccess, RootItsOwnUserAndTheGroupSeeEverything) {
  EXPECT_TRUE(kAccess.identify(0, kNobody).full);
  EXPECT_TRUE(kAccess.identify(990, kNobody).full);
  EXPECT_TRUE(kAccess.identify(1000, kMember).full);
  EXPECT_FALSE(kAccess.identify(1000, kMember).owner());
}

TEST(HistoryAccess, OthersSeeWhatIsTheirs) {
  const Viewer viewer = kAccess.identify(1000, kNobody);
  EXPECT_FALSE(viewer.full);
  EXPECT_EQ(viewer.owner(), 1000u);
}

TEST(HistoryAccess, AnIdThatIsAssignedToOneServiceAfterAnotherOwnsNothing) {
  for (const uid_t user : {61184u, 65519u})
    EXPECT_EQ(kAccess.identify(user, kNobody).owner(), static_cast<uid_t>(-1));
  EXPECT_EQ(kAccess.identify(61183, kNobody).owner(), 61183u);
}

TEST(HistoryAccess, WithoutTheGroupNobodyIsAMember) {
  EXPECT_FALSE((Access{.own = 990, .group = {}}.identify(1000, kMember).full));
}

}  // namespace
}  // namespace keplerd::history
