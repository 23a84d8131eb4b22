// SPDX-License-Identifier: Apache-2.0
#include "cost/price_rule.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <optional>

#include "base/parse.h"
#include "cost/number.h"

namespace keplerd {
namespace {

constexpr int kDays = 7;
constexpr std::array<std::string_view, kDays> kDayNames = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

std::optional<int> parse_day(std::string_view text) {
  const auto found = std::ranges::find_if(
      kDayNames, [text](std::string_view name) { return equals_ignoring_case(name, text); });
  if (found == kDayNames.end()) return std::nullopt;
  return static_cast<int>(std::distance(kDayNames.begin(), found));
}

// "Mon-Fri,Sun"; "Sat-Mon" is over the weekend.
std::optional<unsigned> parse_days(std::string_view text) {
  unsigned days = 0;
  while (!text.empty()) {
    std::string_view range = take_until(text, ',');
    const bool is_range = range.find('-') != std::string_view::npos;
    const auto first = parse_day(take_until(range, '-'));
    const auto last = is_range ? parse_day(range) : first;
    if (!first || !last) return std::nullopt;
    for (int day = *first;; day = (day + 1) % kDays) {
      days |= 1U << static_cast<unsigned>(day);
      if (day == *last) break;
    }
  }
  return days == 0 ? std::nullopt : std::optional(days);
}

// "22:00", up to "24:00".
std::optional<int> parse_clock(std::string_view text) {
  constexpr std::size_t kLength = std::string_view("22:00").size();
  constexpr int kGrid = 5;  // energy is recorded for each five minutes
  if (text.size() != kLength) return std::nullopt;
  const auto hour = parse_number<unsigned>(take_until(text, ':'));
  const auto minute = parse_number<unsigned>(text);
  if (text.size() != 2 || !hour || !minute || *minute >= 60 || *minute % kGrid != 0) return std::nullopt;
  const int minutes = static_cast<int>(*hour * 60 + *minute);
  return minutes > kMinutesOfDay ? std::nullopt : std::optional(minutes);
}

std::optional<int> parse_date(std::string_view text) {
  constexpr std::size_t kLength = std::string_view("2026-11-15").size();
  if (text.size() != kLength) return std::nullopt;
  const auto year = parse_number<unsigned>(take_until(text, '-'));
  const auto month = parse_number<unsigned>(take_until(text, '-'));
  const auto day = parse_number<unsigned>(text);
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(*month), std::chrono::day(*day));
  if (!date.ok()) return std::nullopt;
  return static_cast<int>(*year * 10'000 + *month * 100 + *day);
}

bool set_times(PriceRule& rule, std::string_view text) {
  const auto start = parse_clock(take_until(text, '-'));
  const auto end = parse_clock(text);
  if (!start || !end || *start == *end || *start == kMinutesOfDay) return false;
  rule.start = *start;
  rule.end = *end;
  return true;
}

}  // namespace

Result<PriceRule> parse_price_rule(std::string_view text) {
  const auto price = parse_millionths(take_word(text));
  if (!price) return Error{"must be a number from 0 to 1000000 with at most 6 decimals, like 0.32"};
  PriceRule rule{.price = {*price}};
  std::string_view word = take_word(text);
  if (const auto days = parse_days(word)) {
    rule.days = *days;
    word = take_word(text);
  }
  if (word.find(':') != std::string_view::npos) {
    if (!set_times(rule, word)) return Error{"times must be like 22:00-06:00, in steps of five minutes"};
    word = take_word(text);
  }
  if (word == "since") {
    const auto date = parse_date(take_word(text));
    if (!date) return Error{"since must be followed by a date like 2026-11-15"};
    rule.since = *date;
    word = take_word(text);
  }
  if (!word.empty() || !text.empty())
    return Error{"must be a price, days, times and a date, like 0.24 Mon-Fri 22:00-06:00 since 2026-11-15"};
  return rule;
}

bool applies_at(const PriceRule& rule, const tm& local) {
  const int date = (local.tm_year + 1900) * 10'000 + (local.tm_mon + 1) * 100 + local.tm_mday;
  if (date < rule.since) return false;
  const int minute = local.tm_hour * 60 + local.tm_min;
  const auto is_day = [&rule](int day) { return (rule.days >> static_cast<unsigned>(day) & 1U) != 0; };
  const int today = local.tm_wday, yesterday = (local.tm_wday + kDays - 1) % kDays;
  if (rule.start < rule.end) return is_day(today) && rule.start <= minute && minute < rule.end;
  return (is_day(today) && minute >= rule.start) || (is_day(yesterday) && minute < rule.end);
}

}  // namespace keplerd
