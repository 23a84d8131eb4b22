// SPDX-License-Identifier: Apache-2.0
// Divides active energy by what the hardware counts of groups (UsageSample::counts): memory by what was read
// from it and written to it, or by the cache misses that caused it; processors by the energy of their cores,
// or, if the rules say so, by instructions or cycles. A group that is measured has the part
// of the energy that its count is of all; the part of all other counts is divided among the others by the
// weights of another model, and so is that of a group among itself and those below it; by CPU time if they
// ran on other processors than those of this die only. Counts of those who did not run in the window are
// nobody's.
//
// What a processor draws besides its cores is not counted. The other model divides it: first what is drawn
// because the processor is awake.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "attribution/model.h"
#include "attribution/model_rules.h"

namespace keplerd {

// How far the energy of traffic deviates from its bytes: reads, writes and changes of rows cost different
// amounts. Relative standard deviation.
inline constexpr double kTrafficSd = 0.1;
// Likewise of cache misses: what prefetchers read and what is written back is not among them.
inline constexpr double kCacheMissSd = 0.2;
// How far the counted energy of cores deviates from what they drew. Nobody has measured that yet.
inline constexpr double kCoreEnergySd = 0.05;

class GroupCountModel {
 public:
  explicit GroupCountModel(ModelRules::Share share = ModelRules::Share::kAuto) : share_(share) {}

  // As Model has it.
  void begin(const UsageSample& usage, const Contenders& contenders);

  // Changes the weights of another model for a zone of the current window, if counts are known for it;
  // whether they are. The spans in `weighing` are then its own, valid until the next call. Idle energy and
  // the weights within groups stay as they are.
  bool apply(const DrawnEnergy& drawn, Weighing& weighing);

 private:
  const GroupCounts* find_counts(const Zone& zone) const;
  void find_owners(const GroupCounts& counts);
  void find_weights(std::span<const std::int64_t> model);
  Nanoseconds time_of(std::size_t contender) const;
  double time_of_others() const;
  double counted_part(const GroupCounts& counts, const DrawnEnergy& drawn, Microjoules idle) const;
  void find_parts(const GroupCounts& counts, double counted, const Weighing& weighing);
  void weigh(Weighing& weighing);
  void bound(std::span<const std::int64_t> model, double count_sd, double time_sd, Weighing& weighing);

  ModelRules::Share share_;
  const UsageSample* usage_ = nullptr;  // of the current window, as all that follows
  const Contenders* used_ = nullptr;
  // Of each contender: 0 for those that are not measured, else 1 + an index into GroupCounts::groups.
  std::vector<std::size_t> owner_;
  std::vector<double> weights_;   // of each contender among those of its owner
  std::vector<double> sums_;      // of these, by owner
  std::vector<double> parts_;     // of all energy that is divided, by owner
  std::vector<double> by_count_;  // of an owner's part, what follows from its count
  double nobody_ = 0;             // likewise, that nobody can have caused
  std::vector<std::int64_t> contenders_;
  std::vector<double> relative_sd_;
  std::vector<std::size_t> counted_;
};

}  // namespace keplerd
