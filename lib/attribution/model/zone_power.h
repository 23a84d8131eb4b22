// SPDX-License-Identifier: Apache-2.0
// The power model of one zone: how much of its power is idle, how the rest is shared by those who ran, and
// how sure that is. It learns from each window. Pure: numbers in, numbers out. The doubles that leave it
// become integer weights, so that sums are exact whatever they are.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "attribution/model/cpu_window.h"
#include "attribution/model/frequency_trend.h"
#include "attribution/model/placement.h"
#include "attribution/model/power_filter.h"
#include "attribution/model/trust.h"
#include "attribution/model/workload_slots.h"

namespace keplerd {

// How the idle power is known.
enum class IdleKnowledge {
  kLearning,      // not yet
  kExtrapolated,  // from windows with load; never seen idle
  kBase,          // seen idle
  kAged,          // seen idle more than a day ago
};
std::string_view idle_knowledge_name(IdleKnowledge knowledge);  // "learning", "extrapolated", ...

struct PowerDivision {
  double idle_watts = 0;      // at least 0, at most the zone's power
  std::vector<double> share;  // of the rest, of each contender: the sum is 1, or all are 0 if nobody ran
  std::vector<double> relative_sd;  // of each contender's energy: one standard deviation, 0.1 = 10 %
};

class ZonePower {
 public:
  ZonePower();

  // Divides a window in which the zone drew `watts`, after learning from it. Valid until the next call.
  const PowerDivision& divide(const CpuWindow& window, const ZoneActivity& activity, double watts);

  // Likewise, without learning: the window is too long or too short, or its energy is in doubt.
  const PowerDivision& divide_only(const CpuWindow& window, const ZoneActivity& activity, double watts);

  IdleKnowledge idle_knowledge() const;
  double trust() const { return trust_.value(); }
  const PowerFilter& learned() const { return learned_; }
  const PowerFilter& pooled() const { return pooled_; }

 private:
  // Of the active energy: what is drawn because somebody is awake, and by whom the rest is drawn.
  struct Parts;

  void observe(const CpuWindow& window, const ZoneActivity& activity, double watts, double frequency);
  void learn(const ZoneActivity& activity, double watts, double seconds);
  void learn_base(double watts, double seconds);
  void hold_idle();
  void divide_among(const ZoneActivity& activity, double watts);
  void find_slot_variances(Parts& parts) const;
  double relative_error(const ZoneActivity& activity, const Parts& parts, std::size_t contender) const;
  double idle_deviation(const PowerFilter& filter) const;
  double blend(double learned, double pooled) const;

  FrequencyTrend frequency_;
  double last_frequency_ = 0;
  WorkloadSlots workloads_;
  PowerFilter learned_, pooled_;
  Trust trust_;
  PowerObservation observation_;
  std::vector<std::size_t> slots_;  // of each contender
  double now_ = 0;                  // s of windows learned from
  std::size_t windows_ = 0;
  double base_watts_ = 0, base_seen_ = 0;
  std::size_t base_windows_ = 0;
  PowerDivision division_;
};

}  // namespace keplerd
