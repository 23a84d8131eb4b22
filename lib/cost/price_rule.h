// SPDX-License-Identifier: Apache-2.0
// A price, and when it applies: "0.24 Mon-Fri 22:00-06:00 since 2026-11-15", in local time. Pure, but for the
// time zone.
#pragma once

#include <cstdint>
#include <ctime>
#include <string_view>

#include "base/result.h"
#include "cost/rates.h"

namespace keplerd {

inline constexpr unsigned kEveryDay = 0x7f;  // a bit per day, from Sunday (tm_wday)
inline constexpr int kMinutesOfDay = 24 * 60;

struct PriceRule {
  MicroCurrency price;
  unsigned days = kEveryDay;
  // Minutes of the day, in steps of five. If `end` is not after `start`: until that time of the next day; the
  // days are those on which it begins.
  int start = 0, end = kMinutesOfDay;
  int since = 0;  // 20261115; 0: always

  bool operator==(const PriceRule&) const = default;
  bool is_default() const { return *this == PriceRule{.price = price}; }
};

// The price, then days ("Mon-Fri", "Sat,Sun"), times of day ("22:00-06:00") and "since 2026-11-15", each of
// which may be left out.
Result<PriceRule> parse_price_rule(std::string_view text);

bool applies_at(const PriceRule& rule, const tm& local);

}  // namespace keplerd
