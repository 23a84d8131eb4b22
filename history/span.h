// SPDX-License-Identifier: Apache-2.0
// Spans of time, and the ones that history is kept by: five minutes, and hours, days and months of local
// time. Times are microseconds of CLOCK_REALTIME since the epoch, in UTC.
#pragma once

#include <chrono>
#include <compare>
#include <optional>
#include <string_view>

namespace keplerd::history {

using Time = std::chrono::microseconds;

// From `start` until before `end`.
struct Span {
  Time start{0}, end{0};

  auto operator<=>(const Span&) const = default;
  Time length() const { return end - start; }
  bool contains(const Span& other) const { return start <= other.start && other.end <= end; }
};

// From the finest to the coarsest; the values are stored.
enum class Step { kFiveMinutes = 1, kHour = 2, kDay = 3, kMonth = 4 };
inline constexpr Step kSteps[] = {Step::kFiveMinutes, Step::kHour, Step::kDay, Step::kMonth};

std::string_view name_of(Step step);  // "5min", "hour", "day", "month"
std::optional<Step> parse_step(std::string_view name);

Time usual_length(Step step);  // of a month: 30 days

// Reads the time zone again if it was changed (tzset(3)).
void update_time_zone();

// The span that contains `time`, in the time zone as last read. An hour ends where the offset from UTC
// changes, and may be shorter then: all spans are whole numbers of the shorter ones, and each instant is in
// one.
Span span_of(Step step, Time time);

}  // namespace keplerd::history
