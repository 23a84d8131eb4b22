// SPDX-License-Identifier: Apache-2.0
// A source of the host's energy readings. A new source is one new file and one line in select_source.cpp.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "energy/zone.h"

namespace keplerd {

using ZoneReadings = std::vector<Result<Microjoules>>;

// Of a reading that a meter has taken by itself, earlier than it is read here.
struct ReadingAge {
  Nanoseconds age{0};     // since the meter's last reading
  Nanoseconds behind{0};  // since the time that the counter's value refers to, which may be longer
};
using ReadingAges = std::vector<std::optional<ReadingAge>>;

class EnergySource {
 public:
  virtual ~EnergySource() = default;

  // "powercap", "simulated", ...
  virtual std::string_view name() const = 0;

  // Never empty, and constant for the lifetime of a source; at least one zone is in the total.
  virtual const std::vector<Zone>& zones() const = 0;

  // Sets `readings` to the counters' values, in the order of zones(). A zone that cannot be read has an error
  // in its place and does not affect the others. `now` is CLOCK_MONOTONIC.
  virtual void read(Nanoseconds now, ZoneReadings& readings) = 0;

  // How old the readings of the last read() are, in the order of zones(); unset: they were taken then.
  virtual void ages(ReadingAges& ages) const { ages.assign(zones().size(), std::nullopt); }

  // Performs slow reads (a sensor behind a management controller), whose results the next read() returns.
  // Called after each sample, so that it does not distort any sample's instant.
  virtual void refresh(Nanoseconds) {}

  // The counters stand still for seconds and then advance by all the energy drawn meanwhile. For a window to
  // match the CPU time of those who drew it, it must end with such a step.
  virtual bool moves_in_steps() const { return false; }

  // Nothing is lost if it is read every few seconds only: its counters accumulate by themselves.
  virtual bool may_read_seldom() const { return !moves_in_steps(); }

  // The host has changed, so that reopening the source may find other zones. Cheap.
  virtual bool outdated() const { return false; }
};

}  // namespace keplerd
