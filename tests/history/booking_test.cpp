// SPDX-License-Identifier: Apache-2.0
#include "history/booking.h"

#include <gtest/gtest.h>

#include "history/time_zone.h"

namespace keplerd::history {
namespace {

using namespace std::chrono_literals;

const Time kNoon = utc("2026-11-24 12:00");

TEST(PlaceOf, AMinuteBelongsToItsFiveMinutes) {
  EXPECT_EQ(place_of({kNoon + 60s, kNoon + 120s}), (Place{{kNoon, kNoon + 5min}}));
  EXPECT_EQ(place_of({kNoon + 240s + 20ms, kNoon + 300s + 20ms}), (Place{{kNoon, kNoon + 5min}}))
      << "a reading is taken just after its minute";
}

TEST(PlaceOf, AMinuteInTwoSpansBelongsToTheOneThatHasMoreOfIt) {
  EXPECT_EQ(place_of({kNoon + 250s, kNoon + 310s}).span.start, kNoon);
  EXPECT_EQ(place_of({kNoon + 280s, kNoon + 340s}).span.start, kNoon + 5min);
}

TEST(PlaceOf, ALongerTimeInsideFiveMinutesBelongsToThem) {
  EXPECT_EQ(place_of({kNoon + 10ms, kNoon + 4min}), (Place{{kNoon, kNoon + 5min}}));
  EXPECT_EQ(place_of({kNoon + 10ms, kNoon + 5min + 20ms}), (Place{{kNoon, kNoon + 5min}}));
}

TEST(PlaceOf, ALongerTimeInSeveralSpansBelongsToNoneOfThem) {
  EXPECT_EQ(place_of({kNoon + 2min, kNoon + 6min}), (Place{{kNoon + 2min, kNoon + 6min}, false}));
  EXPECT_EQ(place_of({kNoon + 20ms, kNoon + 4h + 20ms}), (Place{{kNoon, kNoon + 4h}, false}))
      << "its ends nest in hours";
}

TEST(PlaceOf, AClockThatWasSetBackIsNotAnInterruption) {
  EXPECT_EQ(place_of({kNoon + 7min, kNoon + 7min}), (Place{{kNoon + 5min, kNoon + 10min}}));
}

TEST(Bookings, AddUpWhatBelongsTogether) {
  const WorkloadReading web{.key = {Kind::kVms, "web", 0}};
  Bookings bookings;
  for (int minute = 0; minute < 6; ++minute) {
    bookings.add({{kNoon + minute * 1min, kNoon + (minute + 1) * 1min},
                  {.idle = {7}, .workloads = {5}},
                  {{&web, {{4}, {1}}}}});
  }
  ASSERT_EQ(bookings.entries().size(), 2u);
  const Bookings::Entry& first = bookings.entries().at({{kNoon, kNoon + 5min}});
  EXPECT_EQ(first.recorded, 5min);
  EXPECT_EQ(first.accounts, (Accounts{.idle = {35}, .workloads = {25}}));
  EXPECT_EQ(first.workloads.at(web.key), (Amounts{{20}, {5}}));
}

}  // namespace
}  // namespace keplerd::history
