// SPDX-License-Identifier: Apache-2.0
// Decides how long keplerd is followed without a scrape: three times the interval of the last scrapes, at
// least ten minutes. Pure: times are passed in.
//
// Several clients scrape independently: the longest of the last gaps counts. A gap in which the time ran out
// does not count as an interval, so that a rare client never keeps keplerd at its faster pace.
#pragma once

#include <array>
#include <cstddef>

#include "base/units.h"

namespace keplerd::exporter {

class ScrapeRhythm {
 public:
  // The start counts as a scrape.
  explicit ScrapeRhythm(Nanoseconds now) : last_(now) {}

  void scraped(Nanoseconds now);

  // When the time runs out without another scrape.
  Nanoseconds end() const;

 private:
  std::array<Nanoseconds, 8> gaps_{};
  std::size_t next_ = 0;
  Nanoseconds last_;
};

}  // namespace keplerd::exporter
