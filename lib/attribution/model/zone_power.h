// SPDX-License-Identifier: Apache-2.0
// The power model of one zone: how much of its power is idle, how the rest is shared by those who ran, and
// how sure that is. It learns from each window. Pure: numbers in, numbers out. The doubles that leave it
// become integer weights, so that sums are exact whatever they are.
//
// More than 20 methods: learning and dividing are steps over the same two filters and the same base, and the
// idle power and the filters are shown to the report and to tests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "attribution/model/agreement.h"
#include "attribution/model/cpu_window.h"
#include "attribution/model/frequency_trend.h"
#include "attribution/model/placement.h"
#include "attribution/model/power_filter.h"
#include "attribution/model/trust.h"
#include "attribution/model/workload_slots.h"
#include "attribution/model_state.h"

namespace keplerd {

struct PowerDivision {
  double idle_watts = 0;      // at least 0, at most the zone's power
  std::vector<double> share;  // of the rest, of each contender: the sum is 1, or all are 0 if nobody ran
  std::vector<double> awake;  // what of that share is surely drawn because anybody is awake
  std::vector<double> relative_sd;  // of each contender's energy: one standard deviation, 0.1 = 10 %
  double idle_relative_sd = 0;      // of all of it together, because the idle power is not known exactly
};

// What a zone is made of. Memory draws nothing for a processor being awake, and is not shared by siblings.
enum class ZoneKind { kProcessor, kMemory };

class ZonePower {
 public:
  // Means over windows in which next to nothing ran.
  struct Base {
    double watts = 0;
    double awake = 0, load = 0;  // as ZoneActivity has them
    std::size_t windows = 0;
  };

  // What is known of the idle power of a zone that was never idle.
  struct Unseen {
    double learned = 0, pooled = 0;  // W: what the filters took it for when they last could learn it
    double least_load = 0;           // the least mean load of a minute
    std::size_t windows = 0;         // learned from
  };

  // What is worth keeping for another run.
  struct Memory {
    FrequencyTrend::Memory frequency;
    PowerFilter::Memory learned, pooled;
    Trust::Memory trust;
    Base base;
    double base_age = 0;  // s since it was seen
    Unseen unseen;
    std::vector<WorkloadMemory> workloads;
  };

  // `slots`: of the learned filter (power_filter.h).
  explicit ZonePower(ZoneKind kind = ZoneKind::kProcessor, std::size_t slots = kSlots);

  // Learns from a window in which the zone drew `watts`. `others`: what is known of the same workloads on
  // other packages.
  void learn(const CpuWindow& window, const ZoneActivity& activity, double watts,
             std::span<const LearnedPowers> others = {});

  // Divides a window, which need not be one that it has learned from. Valid until the next call.
  const PowerDivision& divide(const CpuWindow& window, const ZoneActivity& activity, double watts);

  // Whether it has learned from a window in which something ran: before that, all is idle.
  bool started() const { return has_filters() || base_.windows > 0; }

  // Somebody knows the idle power: it is no longer learned. Nothing: it is learned again.
  void fix_idle(std::optional<double> watts) { fixed_idle_ = watts; }
  // The machine has changed, as PowerFilter::loosen() says.
  void loosen();

  std::optional<Memory> memory() const;  // nothing before it has started
  void restore(const Memory& memory);

  ZoneKind kind() const { return kind_; }
  IdleKnowledge idle_knowledge() const;
  double idle_watts() const;      // in a window without load
  double idle_deviation() const;  // its standard deviation, W
  double trust() const { return trust_.value(); }
  // Workloads that use at least a twentieth of the zone, but of whose own power hardly anything could be
  // learned in ten minutes: their use hardly varies, or only together with that of others. Of the last window
  // that was divided; the largest first.
  struct Unclear {
    std::uint64_t workload = 0;
    double share = 0;        // of the use
    double relative_sd = 0;  // of its share in the active energy, as PowerDivision has it
  };
  std::vector<Unclear> unclear() const;
  const PowerFilter& learned() const { return learned_; }
  LearnedPowers powers() const { return {&learned_, &workloads_}; }
  const PowerFilter& pooled() const { return pooled_; }

 private:
  // Of the active energy: what is drawn because somebody is awake, and by whom the rest is drawn.
  struct Parts;

  void observe(const CpuWindow& window, const ZoneActivity& activity, double watts);
  void learn_base(double watts, double seconds);
  void hold_idle();
  bool sees_new_load(double seconds);
  double base_watts() const;
  bool is_idle() const;
  void start_filters();
  bool has_filters() const { return learned_.started() && pooled_.started(); }
  void divide_by_use(const ZoneActivity& activity, double watts);
  void divide_among(const ZoneActivity& activity, double watts);
  void find_slot_variances(Parts& parts);
  double relative_error(const ZoneActivity& activity, const Parts& parts, std::size_t contender) const;
  double idle_deviation(const PowerFilter& filter) const;
  std::span<const double> effective(const ZoneActivity& activity) const;
  bool has_base() const { return fixed_idle_ || base_.windows >= kBaseWindows; }
  double blend(double learned, double pooled) const;

  static constexpr std::size_t kBaseWindows = 20;  // until the base is believed

  ZoneKind kind_;
  std::optional<double> fixed_idle_;
  FrequencyTrend frequency_;
  double last_frequency_ = 0;
  WorkloadSlots workloads_;
  PowerFilter learned_, pooled_;
  std::array<double, kSlots> deviations_{};  // d of each slot, as known on all packages
  Trust trust_;
  PowerObservation observation_;
  std::vector<std::size_t> slots_;  // of each contender
  double now_ = 0;                  // s of windows learned from
  Base base_;
  double base_seen_ = 0;
  double mean_load_ = 0;  // of a minute
  Unseen unseen_;
  bool knew_idle_ = false;        // when the filters were started
  std::vector<double> presence_;  // of each contender: its share in what is drawn by being awake
  PowerDivision division_;
  std::array<double, kSlots> unlearned_{};  // of the last division: what is not known, 1: as at the start
  std::array<double, kSlots> share_sd_{};   // likewise: of a slot's share
};

}  // namespace keplerd
