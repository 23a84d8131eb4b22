// SPDX-License-Identifier: Apache-2.0
#include "exporter/scrape_rhythm.h"

#include <algorithm>

namespace keplerd::exporter {
namespace {

constexpr int kIntervals = 3;
constexpr Nanoseconds kLeast = std::chrono::minutes(10);

}  // namespace

void ScrapeRhythm::scraped(Nanoseconds now) {
  if (now < end()) {
    gaps_[next_] = now - last_;
    next_ = (next_ + 1) % gaps_.size();
  }
  last_ = now;
}

Nanoseconds ScrapeRhythm::end() const {
  return last_ + std::max(kIntervals * *std::ranges::max_element(gaps_), kLeast);
}

}  // namespace keplerd::exporter
