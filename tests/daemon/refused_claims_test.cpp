// SPDX-License-Identifier: Apache-2.0
// Whatever a user claims, and wherever, it makes one entry per kind and one log line per minute.
#include "ledger/refused_claims.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "daemon/log.h"
#include "daemon/meter_log.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

TEST(RefusedClaims, OfAUserAreOneEntryInWhateverContainers) {
  RefusedClaims claims;
  claims.add("vm", "early", {{}, 1001}, 1s);
  for (const Uid user : {1000U, 33U}) {
    for (int i = 0; i < 200; ++i)
      claims.add("container", "c" + std::to_string(i), {"outer" + std::to_string(i), user}, 2s);
  }
  const auto all = claims.all();
  ASSERT_EQ(all->size(), 3u);
  EXPECT_EQ(all->front().id, "early");
  EXPECT_EQ(all->back().count, 200u);
  EXPECT_EQ(all->back().id, "c199");
  EXPECT_EQ(all->back().container, "") << "it is the user's claim";
}

TEST(RefusedClaims, OfRootsContainersAreApartByTheOutermost) {
  RefusedClaims claims;
  for (const char* const outer : {"one", "two"}) {
    for (int i = 0; i < 200; ++i) claims.add("vm", "u", {outer + ("/c" + std::to_string(i)), kRootUser}, 1s);
    claims.add("vm", "u", {outer, kRootUser}, 1s);
  }
  claims.add("vm", "u", {}, 1s);
  const auto all = claims.all();
  ASSERT_EQ(all->size(), 3u);
  EXPECT_EQ(all->front().container, "one");
  EXPECT_EQ(all->front().count, 201u);
}

std::size_t lines_of(MeterLog& log, const std::vector<RefusedClaim>& claims, Nanoseconds now) {
  open_log(LogLevel::kDebug);
  testing::internal::CaptureStderr();
  log.refused(claims, now);
  const std::string text = testing::internal::GetCapturedStderr();
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

RefusedClaim claim(const std::string& kind, int id, Uid owner, const std::string& container = {}) {
  return {.at = Realtime(1),
          .kind = kind,
          .id = "id" + std::to_string(id),
          .owner = owner,
          .container = container,
          .count = 1};
}

TEST(LogOfRefusedClaims, HasOneLineForAUserAndAKind) {
  MeterLog log;
  std::size_t lines = 0;
  for (int i = 0; i < 100; ++i) lines += lines_of(log, {claim("container", i, 1000)}, 1s + i * 100ms);
  EXPECT_EQ(lines, 1u);
  EXPECT_EQ(lines_of(log, {claim("vm", 0, 1000)}, 20s), 1u);
  EXPECT_EQ(lines_of(log, {claim("vm", 0, 1001)}, 20s), 1u);
  EXPECT_EQ(lines_of(log, {claim("vm", 0, 0, "one")}, 20s), 1u);
  EXPECT_EQ(lines_of(log, {claim("vm", 1, 0, "one"), claim("vm", 2, 0, "one")}, 20s), 0u);
  EXPECT_EQ(lines_of(log, {claim("vm", 0, 0, "two")}, 20s), 1u);
}

TEST(LogOfRefusedClaims, NamesTheClaimantAndTheClaim) {
  MeterLog log;
  open_log(LogLevel::kDebug);
  testing::internal::CaptureStderr();
  log.refused({{claim("helper", 1, 1000)}}, 1s);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "keplerd: info: user 1000: rejected claim to help VM id1, which belongs to another owner: "
            "counted separately\n");
}

TEST(LogOfRefusedClaims, RepeatedClaimsAreNoWarning) {
  MeterLog log;
  open_log(LogLevel::kDebug);
  log.refused({{claim("vm", 1, 1000)}}, 1s);
  log.refused({{claim("vm", 2, 1000)}}, 2s);
  Sample sample;
  sample.at.monotonic = 62s;
  testing::internal::CaptureStderr();
  log.sampled(sample, Attribution{}, {});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "keplerd: info: user 1000: rejected claim to vm (repeated: 1)\n");
}

}  // namespace
}  // namespace keplerd
