// SPDX-License-Identifier: Apache-2.0
// The seam between measuring and dividing: a model decides how much of a zone's energy is idle, and how the
// rest is weighted. It is pure (numbers in, numbers out: no files, clock or log) and may learn from its
// input. The Attributor calls it and divides by its weights, so that the sums are exact whatever they are.
// Energy is in microjoules, time in nanoseconds; weights have no unit. Nothing here fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "attribution/model_state.h"
#include "attribution/zone_model.h"
#include "base/units.h"
#include "energy/zone.h"
#include "usage/cpu_ticks.h"
#include "usage/usage_sample.h"

namespace keplerd {

// /proc/stat at the start and at the end of a span.
struct TickStep {
  CpuTicks previous;
  CpuTicks current;
};

// The contenders in the division of a window, and the CPU time that each used in it. They are, in this order:
// the kernel, each group of the sample, each process of `outside`.
struct Contenders {
  Nanoseconds window{0};  // its length
  Nanoseconds kernel{0};  // kernel threads outside any group, and interrupts if accounted separately
  std::span<const Nanoseconds> own;  // of each group of the sample, without its children; never negative
  // The same since the processes of the group were last read: longer than the window if it was behind before.
  std::span<const Nanoseconds> own_since;
  // Processes outside any group that ran or used a device; indices into the sample's.
  std::span<const std::size_t> outside;
  // Of each process of the sample, since it was last read; 0 if it did not run, or was not in its group for
  // all that time.
  std::span<const Nanoseconds> process;
  // Whether UsageSample::cpus has what each CPU did in all of the window; if not, nothing can be learned of
  // it.
  bool knows_cpus = true;
  TickStep ticks;

  std::size_t size() const { return 1 + own.size() + outside.size(); }
};

// One zone's energy to divide: that of the window, or of a longer span if earlier reads of the zone
// failed.
struct DrawnEnergy {
  const Zone& zone;
  Microjoules energy;  // more than 0
  Nanoseconds span{0};
  TickStep ticks;  // of that span
};

// Shares are proportional to weights. Weights are never negative; a weight of 0 gets nothing. The model owns
// the spans, which are valid until it is called again.
struct Weighing {
  Microjoules idle;                          // at least 0, at most the energy; the rest is divided
  std::span<const std::int64_t> contenders;  // if all are 0, the rest is unattributed
  // Weights that divide a group's own energy among those of its processes that took part (Contenders) and its
  // other account; if all are 0, it goes to the other account.
  std::span<const std::int64_t> process;  // of each process of the sample
  std::span<const std::int64_t> other;    // of each group of the sample
  // The relative standard deviation of each contender's part (0.1: 10 %); empty: not known.
  std::span<const double> relative_sd = {};
  // What of that comes from the idle power: the part of all contenders together is as uncertain.
  double idle_relative_sd = 0;
  // Of each contender, the part of all active energy that it surely has because the processor is awake, and
  // not for what its cores do; empty: not known.
  std::span<const double> awake = {};
  // The weight of what cannot be said to be any contender's: its part is unattributed.
  std::int64_t nobody = 0;
  // The groups of which the hardware counted the use of the zone, which their weight follows; indices into
  // the sample's.
  std::span<const std::size_t> counted = {};
  // Whether `process` and `other` are CPU time: then the part of a group that is behind is divided later.
  bool by_time = false;
};

class Model {
 public:
  virtual ~Model() = default;

  // Begins a window. `contenders` are those of `usage`; both must stay valid until its last zone is weighed.
  virtual void begin(const UsageSample& usage, const Contenders& contenders) = 0;

  // Weighs one zone in the current window; called at most once per zone and window, and only for a zone that
  // has a resource and drew energy. Nothing if the model does not divide such a zone (it is then
  // unattributed).
  virtual std::optional<Weighing> weigh(const DrawnEnergy& drawn) = 0;

  // Whether it needs UsageSample::cpus.
  virtual bool wants_processors() const { return false; }
  virtual RulesInForce in_force() const { return {}; }
  // What it has learned of each zone; none if it does not learn.
  virtual std::vector<ZoneModelState> states() const { return {}; }
  virtual std::vector<SavedZoneModel> save() const { return {}; }
  // Goes on from what an earlier run had learned, as soon as a zone is weighed.
  virtual void restore(std::span<const SavedZoneModel> saved) { static_cast<void>(saved); }
};

}  // namespace keplerd
