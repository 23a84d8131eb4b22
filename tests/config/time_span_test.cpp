// SPDX-License-Identifier: Apache-2.0
#include "config/time_span.h"

#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace keplerd {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

TEST(TimeSpan, ReadsEveryUnit) {
  EXPECT_EQ(parse_time_span("7ns"), 7ns);
  EXPECT_EQ(parse_time_span("7us"), 7us);
  EXPECT_EQ(parse_time_span("7µs"), 7us);
  EXPECT_EQ(parse_time_span("7usec"), 7us);
  EXPECT_EQ(parse_time_span("500ms"), 500ms);
  EXPECT_EQ(parse_time_span("500msec"), 500ms);
  EXPECT_EQ(parse_time_span("1s"), 1s);
  EXPECT_EQ(parse_time_span("2sec"), 2s);
  EXPECT_EQ(parse_time_span("2seconds"), 2s);
  EXPECT_EQ(parse_time_span("3m"), 3min);
  EXPECT_EQ(parse_time_span("3min"), 3min);
  EXPECT_EQ(parse_time_span("2h"), 2h);
  EXPECT_EQ(parse_time_span("2hours"), 2h);
  EXPECT_EQ(parse_time_span("2d"), 48h);
  EXPECT_EQ(parse_time_span("1w"), 168h);
  EXPECT_EQ(parse_time_span("1M"), 2'629'800s);
  EXPECT_EQ(parse_time_span("1y"), 31'557'600s);
}

TEST(TimeSpan, ABareNumberIsSeconds) {
  EXPECT_EQ(parse_time_span("0"), 0s);
  EXPECT_EQ(parse_time_span("5"), 5s);
  EXPECT_EQ(parse_time_span("0.5"), 500ms);
}

TEST(TimeSpan, AddsUpItsParts) {
  EXPECT_EQ(parse_time_span("1min 30s"), 90s);
  EXPECT_EQ(parse_time_span("1min30s"), 90s);
  EXPECT_EQ(parse_time_span(" 1 h\t 2 ms "), 1h + 2ms);
  EXPECT_EQ(parse_time_span("1s 1s"), 2s);
}

TEST(TimeSpan, RoundsAFractionDownToNanoseconds) {
  EXPECT_EQ(parse_time_span("1.5s"), 1500ms);
  EXPECT_EQ(parse_time_span("0.0000000019s"), 1ns);
  EXPECT_EQ(parse_time_span("0.1min"), 6s);
  EXPECT_EQ(parse_time_span("0.99999999999999999999999999s"), 999'999'999ns);
}

TEST(TimeSpan, RefusesInvalidText) {
  for (const auto* text :
       {"",    " ",   "s",     "-1s",    "+1s",      "1 parsec", "1S",  "1s2",  "1 2",   "1min 30",
        "1.s", ".5s", "1..5s", "1.5.5s", "infinity", "0x10",     "1e3", "1,5s", "1s,2s", "NaN"}) {
    EXPECT_EQ(parse_time_span(text), std::nullopt) << text;
  }
}

TEST(TimeSpan, RefusesWhatDoesNotFit) {
  EXPECT_EQ(parse_time_span("9223372036854775807ns"), Nanoseconds(kLargest));
  EXPECT_EQ(parse_time_span("9223372036854775808ns"), std::nullopt);
  EXPECT_EQ(parse_time_span("293y"), std::nullopt);
  EXPECT_EQ(parse_time_span("9223372036854775807ns 1ns"), std::nullopt);
  EXPECT_EQ(parse_time_span("99999999999999999999s"), std::nullopt);
}

TEST(TimeSpan, IsWrittenShort) {
  EXPECT_EQ(format_time_span(0s), "0");
  EXPECT_EQ(format_time_span(500ms), "500ms");
  EXPECT_EQ(format_time_span(90s), "1min 30s");
  EXPECT_EQ(format_time_span(48h), "2d");
  EXPECT_EQ(format_time_span(1h + 1ns), "1h 1ns");
  EXPECT_EQ(format_time_span(1500us), "1ms 500us");
}

TEST(Energy, ReadsEveryUnit) {
  EXPECT_EQ(parse_energy("3uJ"), Microjoules{3});
  EXPECT_EQ(parse_energy("3µJ"), Microjoules{3});
  EXPECT_EQ(parse_energy("500mJ"), Microjoules{500'000});
  EXPECT_EQ(parse_energy("10J"), Microjoules{10'000'000});
  EXPECT_EQ(parse_energy("10"), Microjoules{10'000'000});
  EXPECT_EQ(parse_energy("2.5 kJ"), Microjoules{2'500'000'000});
  EXPECT_EQ(parse_energy("1MJ"), Microjoules{1'000'000'000'000});
  EXPECT_EQ(parse_energy("1GJ"), Microjoules{1'000'000'000'000'000});
  EXPECT_EQ(parse_energy("1mWh"), Microjoules{3'600'000});
  EXPECT_EQ(parse_energy("1Wh"), Microjoules{3'600'000'000});
  EXPECT_EQ(parse_energy("0.1kWh"), Microjoules{360'000'000'000});
  EXPECT_EQ(parse_energy("1MWh"), Microjoules{3'600'000'000'000'000});
  EXPECT_EQ(parse_energy("0"), Microjoules{0});
  EXPECT_EQ(parse_energy("0.0000019"), Microjoules{1});
}

TEST(Energy, RefusesInvalidText) {
  for (const auto* text : {"", "J", "-1J", "1j", "1KJ", "1kW", "1J 2J", "1J2", "1.J", "ten", "infinity",
                           "1e3J", "9223372036854775808uJ", "9223372036855J"}) {
    EXPECT_EQ(parse_energy(text), std::nullopt) << text;
  }
}

TEST(Energy, IsWrittenInTheLargestUnitThatDividesIt) {
  EXPECT_EQ(format_energy({0}), "0");
  EXPECT_EQ(format_energy({3}), "3uJ");
  EXPECT_EQ(format_energy({500'000}), "500mJ");
  EXPECT_EQ(format_energy({10'000'000}), "10J");
  EXPECT_EQ(format_energy({2'500'000'000}), "2500J");
  EXPECT_EQ(format_energy({1'000'000'000}), "1kJ");
}

TEST(Amounts, ReadBackToTheSame) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const auto number = static_cast<std::int64_t>(random() >> (1 + random() % 63));
    ASSERT_EQ(parse_time_span(format_time_span(Nanoseconds(number))), Nanoseconds(number));
    ASSERT_EQ(parse_energy(format_energy({number})), Microjoules{number});
  }
  EXPECT_EQ(parse_time_span(format_time_span(Nanoseconds(kLargest))), Nanoseconds(kLargest));
  EXPECT_EQ(parse_energy(format_energy({kLargest})), Microjoules{kLargest});
}

}  // namespace
}  // namespace keplerd
