// SPDX-License-Identifier: Apache-2.0
// How often to sample (docs/decisions/0019-rhythm.md): once in Interval= while somebody follows or has just
// asked, faster for who has full access and wants that, and seldom while nobody is there. No I/O.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/units.h"

namespace keplerd {

struct SamplingSettings;

// Somebody to whom reports are told as they come, for as long as this is held.
struct Listener {
  bool full = false;      // has full access
  Nanoseconds wanted{0};  // at least so long between two reports; 0: each
};

class Pace {
 public:
  // An interval of 0: on demand.
  void set(const SamplingSettings& settings);

  std::shared_ptr<const Listener> listen(Listener listener);

  // Somebody with full access asks. Times are of CLOCK_MONOTONIC.
  void ask(Nanoseconds now) { asked_ = now; }

  // From one sample to the next. `may_read_seldom`: the meter loses nothing by being read seldom.
  Nanoseconds period(Nanoseconds now, bool may_read_seldom);

 private:
  Nanoseconds interval_{0}, unwatched_{0};
  std::optional<Nanoseconds> asked_;
  std::vector<std::weak_ptr<const Listener>> listeners_;
};

}  // namespace keplerd
