// SPDX-License-Identifier: Apache-2.0
#include "history/booking.h"

#include <algorithm>

namespace keplerd::history {
namespace {

// Readings are a minute apart; on a busy host, some are late.
constexpr Time kNormalWindow = std::chrono::minutes(2);

// A reading is taken just after the minute it is for.
constexpr Time kLate = std::chrono::seconds(2);

// The beginning of the five minutes, if it was a moment ago.
Time without_delay(Time time) {
  const Time start = span_of(Step::kFiveMinutes, time).start;
  return time - start <= kLate ? start : time;
}

}  // namespace

Place place_of(const Span& window) {
  const Time length = window.length();
  if (length <= kNormalWindow) return {span_of(Step::kFiveMinutes, window.start + length / 2)};
  const Span exact{without_delay(window.start), without_delay(window.end)};
  const Span five_minutes = span_of(Step::kFiveMinutes, exact.start);
  if (five_minutes.contains(exact)) return {five_minutes};
  return {exact, false};
}

void Bookings::add(const Drawn& drawn) {
  Entry& entry = entries_[place_of(drawn.span)];
  entry.recorded += drawn.span.length();
  entry.accounts += drawn.accounts;
  for (const auto& [workload, amounts] : drawn.workloads) entry.workloads[workload->key] += amounts;
}

}  // namespace keplerd::history
