// SPDX-License-Identifier: Apache-2.0
#include "meters/drm/client_times.h"

#include <gtest/gtest.h>

namespace keplerd::drm {
namespace {

using namespace std::chrono_literals;

constexpr char kCard[] = "0000:03:00.0";
constexpr ProcessId kLogind{500, 100}, kShell{900, 2000}, kGame{1200, 5000};

SeenClient with_time(ProcessId process, std::uint64_t client, std::uint64_t milliseconds,
                     bool is_new = false) {
  SeenClient seen{process, is_new, {.driver = "amdgpu", .device = kCard, .id = client}};
  seen.info.engines["gfx"].nanoseconds = milliseconds * 1'000'000;
  return seen;
}

SeenClient with_cycles(ProcessId process, std::uint64_t cycles, std::uint64_t all) {
  SeenClient seen{process, false, {.driver = "xe", .device = kCard, .id = 1}};
  seen.info.engines["rcs"] = {.cycles = cycles, .all_cycles = all};
  return seen;
}

class ClientTimesTest : public testing::Test {
 protected:
  void take(const std::vector<SeenClient>& seen) {
    now_ += 1s;
    uses_.begin(now_, {kLogind, kShell, kGame});
    times_.take(now_, seen, uses_);
  }
  // The lines of the card's file, without its time.
  std::string lines() const {
    const std::string text = uses_.text(kCard);
    return text.substr(text.find('\n') + 1);
  }

  Nanoseconds now_ = 10s;
  ClientTimes times_;
  meters::DeviceUses uses_;
};

TEST_F(ClientTimesTest, WhatWasUsedBeforeIsNotCounted) {
  take({with_time(kShell, 1, 5000)});
  EXPECT_EQ(lines(), "900 2000 0\n");
  take({with_time(kShell, 1, 5300)});
  EXPECT_EQ(lines(), "900 2000 300000000\n");
  take({with_time(kShell, 1, 5300), with_time(kGame, 2, 70, true)});
  EXPECT_EQ(lines(), "900 2000 300000000\n1200 5000 70000000\n") << "its client is new";
}

TEST_F(ClientTimesTest, AClientCountsOnceForTheProcessThatWasStartedLast) {
  take({with_time(kLogind, 1, 0), with_time(kShell, 1, 0), with_time(kShell, 1, 0)});
  take({with_time(kLogind, 1, 100), with_time(kShell, 1, 100), with_time(kShell, 1, 100)});
  EXPECT_EQ(lines(), "900 2000 100000000\n");
  take({with_time(kLogind, 1, 150), with_time(kShell, 1, 150), with_time(kGame, 1, 150)});
  EXPECT_EQ(lines(), "900 2000 150000000\n") << "who has it keeps it";
  take({with_time(kLogind, 1, 175), with_time(kGame, 1, 175)});
  EXPECT_EQ(lines(), "900 2000 150000000\n1200 5000 25000000\n") << "until it has closed it";
}

TEST_F(ClientTimesTest, CyclesAreTimeByThoseOfTheEngine) {
  take({with_cycles(kShell, 1000, 100'000)});
  take({with_cycles(kShell, 1000 + 2500, 100'000 + 10'000)});
  EXPECT_EQ(lines(), "900 2000 250000000\n");
}

TEST_F(ClientTimesTest, WhatGoesBackIsNobodysAndIsFollowed) {
  take({with_time(kShell, 1, 500)});
  take({with_time(kShell, 1, 100)});
  EXPECT_EQ(lines(), "900 2000 0\n");
  take({with_time(kShell, 1, 130)});
  EXPECT_EQ(lines(), "900 2000 30000000\n");
  take({with_cycles(kGame, 5000, 100'000)});
  take({with_cycles(kGame, 4000, 110'000)});
  take({with_cycles(kGame, 9000, 90'000)});
  take({with_cycles(kGame, 9000, 90'000)});
  EXPECT_EQ(lines(), "900 2000 30000000\n1200 5000 0\n");
}

TEST_F(ClientTimesTest, EnginesOfOneClientAddUpAndAnAbsurdTimeIsBounded) {
  SeenClient seen = with_time(kShell, 1, 0);
  seen.info.engines["enc"].nanoseconds = 0;
  take({seen});
  seen.info.engines["gfx"].nanoseconds = 5;
  seen.info.engines["enc"].nanoseconds = 7;
  take({seen});
  EXPECT_EQ(lines(), "900 2000 12\n");
  seen.info.engines["gfx"].nanoseconds = UINT64_MAX;
  take({seen});
  EXPECT_EQ(lines(), "900 2000 " + std::to_string((std::uint64_t{1} << 50) + 12) + "\n");
}

TEST_F(ClientTimesTest, AClientThatEndedAndAnotherWithItsNumberAreTwo) {
  take({with_time(kShell, 1, 500)});
  take({});
  take({with_time(kGame, 1, 40, true)});
  EXPECT_EQ(lines(), "900 2000 0\n1200 5000 40000000\n");
}

}  // namespace
}  // namespace keplerd::drm
