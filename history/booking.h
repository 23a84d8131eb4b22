// SPDX-License-Identifier: Apache-2.0
// Chooses the span that energy is booked to. Pure, but for the time zone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "history/reading.h"
#include "history/span.h"

namespace keplerd::history {

struct Place {
  Span span;
  bool is_regular = true;  // five minutes of the clock; else the time of an interruption

  auto operator<=>(const Place&) const = default;
};

// What is drawn in `window` belongs to five minutes of the clock if the window is inside them. A window of
// normal length that begins in one such span and ends in the next one belongs to the one that has more of it;
// a longer one is a span of its own: it is not known when in it the energy was drawn.
Place place_of(const Span& window);

// What is not written yet.
class Bookings {
 public:
  struct Entry {
    Time recorded{0};  // the length of its windows
    Accounts accounts;
    std::map<WorkloadKey, Amounts> workloads;
  };

  void add(const Drawn& drawn);

  const std::map<Place, Entry>& entries() const { return entries_; }
  void clear() { entries_.clear(); }

 private:
  std::map<Place, Entry> entries_;
};

}  // namespace keplerd::history
