// SPDX-License-Identifier: Apache-2.0
#include "exporter/scrape_rhythm.h"

#include <gtest/gtest.h>

namespace keplerd::exporter {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kStart = 5h;

TEST(ScrapeRhythm, WithoutAScrapeItIsTenMinutes) { EXPECT_EQ(ScrapeRhythm(kStart).end(), kStart + 10min); }

TEST(ScrapeRhythm, ItIsTenMinutesAfterTheLastOfFrequentScrapes) {
  ScrapeRhythm rhythm(kStart);
  for (int i = 1; i <= 100; ++i) rhythm.scraped(kStart + i * 15s);
  EXPECT_EQ(rhythm.end(), kStart + 100 * 15s + 10min);
}

TEST(ScrapeRhythm, OfRareScrapesItIsThreeIntervals) {
  ScrapeRhythm rhythm(kStart);
  rhythm.scraped(kStart + 4min);
  EXPECT_EQ(rhythm.end(), kStart + 4min + 12min);
  rhythm.scraped(kStart + 8min);
  EXPECT_EQ(rhythm.end(), kStart + 8min + 12min);
}

TEST(ScrapeRhythm, OfTwoClientsTheRareOneIsNotForgotten) {
  ScrapeRhythm rhythm(kStart);
  Nanoseconds now = kStart;
  for (int i = 0; i < 10; ++i) {
    rhythm.scraped(now += 5min);
    rhythm.scraped(now += 1s);
  }
  EXPECT_EQ(rhythm.end(), now + 15min);
}

TEST(ScrapeRhythm, OneSlowScrapeIsForgottenAfterEightMore) {
  ScrapeRhythm rhythm(kStart);
  Nanoseconds now = kStart;
  rhythm.scraped(now += 9min);
  for (int i = 0; i < 7; ++i) rhythm.scraped(now += 1min);
  EXPECT_EQ(rhythm.end(), now + 27min);
  rhythm.scraped(now += 1min);
  EXPECT_EQ(rhythm.end(), now + 10min);
}

TEST(ScrapeRhythm, AGapInWhichTheTimeRanOutIsNoInterval) {
  ScrapeRhythm rhythm(kStart);
  rhythm.scraped(kStart + 1h);
  EXPECT_EQ(rhythm.end(), kStart + 1h + 10min);
}

}  // namespace
}  // namespace keplerd::exporter
