// SPDX-License-Identifier: Apache-2.0
// Time zones as POSIX writes them, which need no files; and times in UTC.
#pragma once

#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>

#include "history/span.h"

namespace keplerd::history {

inline constexpr char kBerlin[] = "CET-1CEST,M3.5.0,M10.5.0/3";
inline constexpr char kLordHowe[] = "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0";
inline constexpr char kKolkata[] = "IST-5:30";

// For as long as it exists.
class TimeZone {
 public:
  explicit TimeZone(const char* zone) {
    if (const char* const before = std::getenv("TZ")) before_ = before;
    set(zone);
  }
  ~TimeZone() {
    before_ ? set(before_->c_str()) : void(::unsetenv("TZ"));
    update_time_zone();
  }
  TimeZone(const TimeZone&) = delete;
  TimeZone& operator=(const TimeZone&) = delete;

  static void set(const char* zone) {
    ::setenv("TZ", zone, 1);
    update_time_zone();
  }

 private:
  std::optional<std::string> before_;
};

// "2026-10-25 00:30" or with seconds, in UTC.
inline Time utc(const char* text) {
  tm time{};
  if (::strptime(text, "%Y-%m-%d %H:%M", &time) == nullptr) std::abort();
  return std::chrono::seconds(::timegm(&time));
}

inline Span span(const char* start, const char* end) { return {utc(start), utc(end)}; }

}  // namespace keplerd::history
