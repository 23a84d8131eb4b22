// SPDX-License-Identifier: Apache-2.0
// The seam between measuring and dividing: a model decides how much of a zone's energy is idle, and who
// weighs what in the rest. It is pure (numbers in, numbers out: no files, clock or log) and may learn from
// what it is given. The Attributor calls it and divides by its weights, so that the sums are exact whatever
// they are. Energy is in microjoules, time in nanoseconds; weights have no unit. Nothing here fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/units.h"
#include "energy/zone.h"
#include "usage/cpu_ticks.h"
#include "usage/usage_sample.h"

namespace keplerd {

// /proc/stat at the beginning and at the end of a span.
struct TickStep {
  CpuTicks previous;
  CpuTicks current;
};

// Who takes part in the division of a window, and the CPU time that each used in it. The contenders are, in
// this order: the kernel, each group of the sample, each process of `outside`.
struct Contenders {
  Nanoseconds kernel{0};             // kernel threads outside any group, and interrupts that are kept apart
  std::span<const Nanoseconds> own;  // of each group of the sample, without its children; never negative
  std::span<const std::size_t> outside;  // processes outside any group that ran; indices into the sample's
  // Of each process of the sample; 0 where it did not run, or was not in its group all the time.
  std::span<const Nanoseconds> process;
  TickStep ticks;

  std::size_t size() const { return 1 + own.size() + outside.size(); }
};

// One zone's energy to be divided. It is that of the window, or of a longer span where the zone could not be
// read before.
struct DrawnEnergy {
  const Zone& zone;
  Microjoules energy;  // more than 0
  Nanoseconds span{0};
  TickStep ticks;  // of that span
};

// Shares are in proportion to weights, none of which is negative; a weight of 0 gets nothing. The spans are
// the model's, and valid until it is called again.
struct Weighing {
  Microjoules idle;                          // at least 0, at most the energy; the rest is divided
  std::span<const std::int64_t> contenders;  // all 0: nobody gets any, and the rest is unattributed
  // By these a group's own is divided among those of its processes that ran and its other account; all 0: it
  // is other.
  std::span<const std::int64_t> process;  // of each process of the sample
  std::span<const std::int64_t> other;    // of each group of the sample
};

class Model {
 public:
  virtual ~Model() = default;

  // Begins a window. `contenders` are those of `usage`; both are valid until its last zone has been weighed.
  virtual void begin(const UsageSample& usage, const Contenders& contenders) = 0;

  // Weighs for one zone in the window that has begun; once a zone and window, and only for a zone that has a
  // resource and drew energy. Nothing where the model does not divide such a zone: nobody gets any of it.
  virtual std::optional<Weighing> weigh(const DrawnEnergy& drawn) = 0;
};

}  // namespace keplerd
