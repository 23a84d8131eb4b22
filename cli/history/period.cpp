// SPDX-License-Identifier: Apache-2.0
#include "cli/history/period.h"

#include <array>
#include <ctime>
#include <optional>

#include <fmt/format.h>

#include "base/parse.h"
#include "base/text.h"
#include "config/time_span.h"

namespace keplerd::cli::history {
namespace {

using std::chrono::duration_cast;
using std::chrono::hours;
using std::chrono::seconds;

constexpr Time kDay = hours(24);

tm local_time(Time time) {
  const std::time_t seconds_of_time = duration_cast<seconds>(time).count();
  tm local{};
  ::localtime_r(&seconds_of_time, &local);
  return local;
}

Time to_time(tm local) {
  local.tm_isdst = -1;
  return seconds(::mktime(&local));
}

// "2026-02-30" is no date, but mktime() accepts it. `hour` may be one that is skipped in spring.
bool is_date(const tm& given, Time time) {
  const tm found = local_time(time + hours(given.tm_hour < 3 ? 2 : 0));
  return found.tm_mday == given.tm_mday && found.tm_mon == given.tm_mon;
}

std::optional<Time> parse_date(const std::string& text) {
  for (const char* const format : {"%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d", "%Y-%m"}) {
    tm local{};
    local.tm_mday = 1;
    const char* const end = ::strptime(text.c_str(), format, &local);
    if (end == nullptr || *end != '\0') continue;
    const Time time = to_time(local);
    if (!is_date(local, time)) return std::nullopt;
    return time;
  }
  return std::nullopt;
}

std::optional<Time> parse_clock(const std::string& text, Time now) {
  for (const char* const format : {"%H:%M:%S", "%H:%M"}) {
    tm local = local_time(start_of_day(now));
    const char* const end = ::strptime(text.c_str(), format, &local);
    if (end != nullptr && *end == '\0') return to_time(local);
  }
  return std::nullopt;
}

// The beginning of the day so many days and months after that of `time`.
Time start_after(Time time, int days, int months) {
  tm local = local_time(time);
  local.tm_hour = local.tm_min = local.tm_sec = 0;
  local.tm_mday += days;
  local.tm_mon += months;
  return to_time(local);
}

std::optional<Time> parse_relative(std::string_view text, Time now) {
  constexpr std::string_view kAgo = " ago";
  if (text == "now") return now;
  if (text == "today") return start_of_day(now);
  if (text == "yesterday") return start_after(now, -1, 0);
  if (text == "tomorrow") return start_after(now, 1, 0);
  const bool is_ago = text.ends_with(kAgo);
  if (is_ago) text.remove_suffix(kAgo.size());
  if (!is_ago && !text.starts_with('-')) return std::nullopt;
  if (!is_ago) text.remove_prefix(1);
  const auto span = parse_time_span(text);
  if (!span) return std::nullopt;
  return now - duration_cast<Time>(*span);
}

Error no_time(std::string_view text) {
  return {
      fmt::format("invalid time '{}' (expected one like 2026-11, 2026-11-24, \"2026-11-24 12:30\", today, "
                  "yesterday or \"2h ago\")",
                  escape_name(text))};
}

}  // namespace

Time start_of_day(Time time) { return start_after(time, 0, 0); }

Time start_of_month(Time time) {
  tm local = local_time(time);
  local.tm_mday = 1;
  local.tm_hour = local.tm_min = local.tm_sec = 0;
  return to_time(local);
}

Result<Time> parse_time(std::string_view text, Time now) {
  const std::string copy(text);
  std::optional<Time> time;
  if (text.starts_with('@')) {
    if (const auto number = parse_number<std::int32_t>(text.substr(1))) time = seconds(*number);
  } else {
    time = parse_date(copy);
    if (!time) time = parse_clock(copy, now);
    if (!time) time = parse_relative(text, now);
  }
  if (!time || *time < Time{0}) return no_time(text);
  return *time;
}

Result<Period> parse_month(std::string_view text, Time now) {
  constexpr std::size_t kLength = std::string_view("2026-11").size();
  const auto start = text.size() == kLength ? parse_time(text, now) : no_time(text);
  if (!start) return Error{fmt::format("invalid month '{}' (expected one like 2026-11)", escape_name(text))};
  return Period{*start, start_after(*start, 0, 1)};
}

Result<Period> parse_day(std::string_view text, Time now) {
  constexpr std::size_t kLength = std::string_view("2026-11-24").size();
  const bool is_day = text.size() == kLength || text == "today" || text == "yesterday";
  const auto start = is_day ? parse_time(text, now) : no_time(text);
  if (!start)
    return Error{fmt::format("invalid day '{}' (expected one like 2026-11-24, today or yesterday)",
                             escape_name(text))};
  return Period{*start, start_after(*start, 1, 0)};
}

Result<Period> period_of(const HistoryOptions& options, Time now, Time fallback) {
  const bool has_range = !options.since.empty() || !options.until.empty();
  if (int{!options.month.empty()} + int{!options.day.empty()} + int{has_range} > 1)
    return Error{"only one of --month, --day and --since with --until can be used"};
  if (!options.month.empty()) return parse_month(options.month, now);
  if (!options.day.empty()) return parse_day(options.day, now);
  Period period{fallback, now};
  if (!options.since.empty()) {
    const auto since = parse_time(options.since, now);
    if (!since) return Error{"--since: " + since.error().message};
    period.from = *since;
  }
  if (!options.until.empty()) {
    const auto until = parse_time(options.until, now);
    if (!until) return Error{"--until: " + until.error().message};
    period.to = *until;
  }
  if (period.from >= period.to) return Error{"the period is empty: --since must be before --until"};
  return period;
}

std::string suitable_step(const Period& period) {
  const Time length = period.to - period.from;
  if (length <= hours(3)) return "5min";
  if (length <= 3 * kDay) return "hour";
  return length <= 93 * kDay ? "day" : "month";
}

std::string format_minute(Time time) {
  const tm local = local_time(time);
  std::array<char, sizeof "2026-11-24 12:30"> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &local)};
}

}  // namespace keplerd::cli::history
