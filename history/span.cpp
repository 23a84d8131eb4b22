// SPDX-License-Identifier: Apache-2.0
#include "history/span.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>
#include <tuple>

namespace keplerd::history {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

// Every offset from UTC that is in use, and every change of one, is a multiple of it.
constexpr Time kGrid = minutes(5);

struct StepInfo {
  Step step{};
  std::string_view name;
  hours longest;  // no span is as long
  Time usual{};
};
constexpr std::array<StepInfo, 4> kStepNames = {{{Step::kFiveMinutes, "5min", hours(1), minutes(5)},
                                                 {Step::kHour, "hour", hours(2), hours(1)},
                                                 {Step::kDay, "day", hours(50), hours(24)},
                                                 {Step::kMonth, "month", hours(33 * 24), hours(30 * 24)}}};

const StepInfo& info_of(Step step) { return *std::ranges::find(kStepNames, step, &StepInfo::step); }

std::int64_t grid_index(Time time) {
  const std::int64_t index = time / kGrid;
  return time < index * kGrid ? index - 1 : index;
}

// The same for all instants of a span, and for no others.
auto label_of(Step step, std::int64_t grid) {
  const std::time_t seconds = std::chrono::duration_cast<std::chrono::seconds>(grid * kGrid).count();
  tm local{};
  ::localtime_r(&seconds, &local);
  const bool hour = step == Step::kHour, day = hour || step == Step::kDay;
  return std::tuple(local.tm_year, local.tm_mon, day ? local.tm_mday : 0, hour ? local.tm_hour : 0,
                    hour ? local.tm_gmtoff : 0);
}

}  // namespace

std::string_view name_of(Step step) { return info_of(step).name; }

Time usual_length(Step step) { return info_of(step).usual; }

std::optional<Step> parse_step(std::string_view name) {
  const auto found = std::ranges::find(kStepNames, name, &StepInfo::name);
  if (found == kStepNames.end()) return std::nullopt;
  return found->step;
}

void update_time_zone() { ::tzset(); }

Span span_of(Step step, Time time) {
  const std::int64_t inside = grid_index(time);
  if (step == Step::kFiveMinutes) return {inside * kGrid, (inside + 1) * kGrid};
  const auto label = label_of(step, inside);
  const auto is_inside = [&](std::int64_t grid) { return label_of(step, grid) == label; };
  const std::int64_t most = info_of(step).longest / kGrid;
  // The first instant inside, and the first one after it, by bisection.
  std::int64_t outside = inside - most, first = inside;
  while (first - outside > 1) {
    const std::int64_t middle = outside + (first - outside) / 2;
    (is_inside(middle) ? first : outside) = middle;
  }
  std::int64_t last = inside, after = inside + most;
  while (after - last > 1) {
    const std::int64_t middle = last + (after - last) / 2;
    (is_inside(middle) ? last : after) = middle;
  }
  return {first * kGrid, after * kGrid};
}

}  // namespace keplerd::history
