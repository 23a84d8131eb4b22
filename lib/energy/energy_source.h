// SPDX-License-Identifier: Apache-2.0
// A source of the host's energy readings. A new source is one new file and one line in select_source.cpp.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "energy/zone.h"

namespace keplerd {

using ZoneReadings = std::vector<Result<Microjoules>>;

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
