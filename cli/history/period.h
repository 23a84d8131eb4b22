// SPDX-License-Identifier: Apache-2.0
// Points in time and periods as people write them, in local time. Pure, but for the time zone.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/history/options.h"

namespace keplerd::cli::history {

using Time = std::chrono::microseconds;  // since the epoch

struct Period {
  Time from{0}, to{0};
  bool operator==(const Period&) const = default;
};

// "2026-11-24 12:30:15" (systemd.time(7)) and its beginnings, down to "2026-11"; "12:30" of today; "today",
// "yesterday", "now", "2h ago", "-2h", "@1795504000".
Result<Time> parse_time(std::string_view text, Time now);

// The whole month "2026-11", or day "2026-11-24", "today" or "yesterday".
Result<Period> parse_month(std::string_view text, Time now);
Result<Period> parse_day(std::string_view text, Time now);

// Of --month, --day, --since and --until. Without any: `fallback` until now.
Result<Period> period_of(const HistoryOptions& options, Time now, Time fallback);

// The first instant of this day or month.
Time start_of_day(Time time);
Time start_of_month(Time time);

// What gives a period a readable number of rows: "5min", "hour", "day" or "month".
std::string suitable_step(const Period& period);

// "2026-11-24 12:30".
std::string format_minute(Time time);

}  // namespace keplerd::cli::history
