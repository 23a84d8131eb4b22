// SPDX-License-Identifier: Apache-2.0
// What a host's energy is read from. A new source is one new file here and one line in select_source.cpp.
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

  // Never empty, never changes during the life of a source; at least one zone is in the total.
  virtual const std::vector<Zone>& zones() const = 0;

  // Replaces `readings` by the counters' values, in the order of zones(). A zone that cannot be read has an
  // error in its place and costs the others nothing. `now` is CLOCK_MONOTONIC.
  virtual void read(Nanoseconds now, ZoneReadings& readings) = 0;

  // Reads what may take long (a sensor behind a management controller), for the next read() to tell. Called
  // after each sample, so that it distorts no instant of a sample.
  virtual void refresh(Nanoseconds) {}

  // The counters stand still for seconds and then tell all that was drawn meanwhile: a window that is to fit
  // the CPU time of those who drew it ends with such a step.
  virtual bool moves_in_steps() const { return false; }

  // Nothing is lost where it is read every few seconds only: its counters count by themselves.
  virtual bool may_read_seldom() const { return !moves_in_steps(); }

  // The host has changed, so that opening the source anew may find other zones. Cheap.
  virtual bool outdated() const { return false; }
};

}  // namespace keplerd
