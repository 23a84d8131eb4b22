// SPDX-License-Identifier: Apache-2.0
#include "workloads/owner.h"

#include <gtest/gtest.h>

namespace keplerd {
namespace {

TEST(OrdinaryUser, IsNeitherRootNorTheSystemsNorADynamicOneNorNobody) {
  for (const Uid user : {0U, 1U, 107U, 999U, 61184U, 65519U, 65534U})
    EXPECT_FALSE(is_ordinary_user(user)) << user;
  for (const Uid user : {1000U, 60513U, 61183U, 65520U, 65535U, 100000U, 4294967294U})
    EXPECT_TRUE(is_ordinary_user(user)) << user;
}

TEST(ClaimingUser, IsTheUserWhoStartedASetUserIdProgram) {
  EXPECT_EQ(claiming_user(0, 1000), 1000U);
  EXPECT_EQ(claiming_user(107, 1000), 1000U);
  EXPECT_EQ(claiming_user(1000, 0), 1000U);
  EXPECT_EQ(claiming_user(0, std::nullopt), 0U);
  EXPECT_EQ(claiming_user(0, 33), 0U);
  EXPECT_EQ(claiming_user(std::nullopt, std::nullopt), kNobodyUser);
}

TEST(ClaimedId, IncludesTheClaimant) {
  EXPECT_EQ(claimed_id({}, "x"), "x");
  EXPECT_EQ(claimed_id({{}, 107}, "x"), "x");
  EXPECT_EQ(claimed_id({{}, 65534}, "x"), "x");
  EXPECT_EQ(claimed_id({{}, 1000}, "x"), "user-1000/x");
  EXPECT_EQ(claimed_id({"box", 0}, "x"), "box/x");
  EXPECT_EQ(claimed_id({"user-1000/box", 1000}, "x"), "user-1000/box/x");
}

TEST(ClaimedId, OfRootsCannotReadLikeAUsers) {
  EXPECT_EQ(claimed_id({}, "user-1000"), "user-0/user-1000");
  EXPECT_EQ(claimed_id({claimed_id({}, "user-1000"), 0}, "x"), "user-0/user-1000/x");
  EXPECT_EQ(claimed_id({}, "user-web"), "user-web");
}

}  // namespace
}  // namespace keplerd
