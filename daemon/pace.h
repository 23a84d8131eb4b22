// SPDX-License-Identifier: Apache-2.0
// Decides how often to sample (docs/decisions/0019-rhythm.md): once per Interval= while there are
// followers or recent callers, more often for followers with full access that want it, and rarely
// otherwise. No I/O.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/units.h"

namespace keplerd {

struct SamplingSettings;

// A follower, to which reports are sent as they come, for as long as this is held.
struct Listener {
  bool full = false;       // has full access
  Nanoseconds wanted{0};   // minimum time between two reports; 0: every report
  bool aligned = false;    // the first report at or after each multiple of `wanted` of CLOCK_REALTIME
  bool processes = false;  // are among what it gets; of others than full ones, each request says so
};

class Pace {
 public:
  // An interval of 0: on demand.
  void set(const SamplingSettings& settings);

  std::shared_ptr<const Listener> listen(Listener listener);

  // Records a request of a caller with full access. Times are of CLOCK_MONOTONIC.
  void ask(Nanoseconds now) { asked_ = now; }

  // Records a request of any caller for processes, and whether samples read all of them: while somebody
  // follows them, or has asked for them in the last minute.
  void ask_processes(Nanoseconds now) { processes_asked_ = now; }
  bool wants_processes(Nanoseconds now) const;

  // The period between samples. `may_read_seldom`: the meter loses nothing by being read rarely.
  Nanoseconds period(Nanoseconds now, bool may_read_seldom);

  // How long until a sample is due for an aligned follower with full access; unset: there is none. The time
  // is of CLOCK_REALTIME.
  std::optional<Nanoseconds> until_aligned(Nanoseconds realtime) const;

 private:
  Nanoseconds interval_{0}, unwatched_{0};
  std::optional<Nanoseconds> asked_, processes_asked_;
  std::vector<std::weak_ptr<const Listener>> listeners_;
};

}  // namespace keplerd
