// SPDX-License-Identifier: Apache-2.0
// Divides the active energy of memory by what was read from it and written to it
// (UsageSample::memory_traffic). A group whose traffic is measured has the part of the energy that its
// traffic is of all; the part of all other traffic is divided among the others by the weights of another
// model, and so is that of a group among itself and those below it; by CPU time if they ran on other
// processors than those of this memory only. Traffic of those who did not run in the window is nobody's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attribution/model.h"

namespace keplerd {

// How far the energy of traffic deviates from its bytes: reads, writes and changes of rows cost different
// amounts. Relative standard deviation.
inline constexpr double kTrafficSd = 0.1;

class MemoryTrafficModel {
 public:
  // As Model has it.
  void begin(const UsageSample& usage, const Contenders& contenders);

  // Changes the weights of another model for a zone of the current window, if the traffic of its memory is
  // known. The spans in `weighing` are then its own, valid until the next call. Idle energy and the weights
  // within groups stay as they are.
  void apply(const Zone& zone, Weighing& weighing);

 private:
  void find_owners(const MemoryTraffic& traffic);
  void find_weights(std::span<const std::int64_t> model);
  Nanoseconds time_of(std::size_t contender) const;
  void weigh(const MemoryTraffic& traffic, Weighing& weighing);
  void bound(std::span<const std::int64_t> model, Weighing& weighing);

  const UsageSample* usage_ = nullptr;  // of the current window, as all that follows
  const Contenders* used_ = nullptr;
  // Of each contender: 0 for those that are not measured, else 1 + an index into MemoryTraffic::groups.
  std::vector<std::size_t> owner_;
  std::vector<double> weights_;  // of each contender among those of its owner
  std::vector<double> sums_;     // of these, by owner
  std::vector<std::int64_t> contenders_;
  std::vector<double> relative_sd_;
};

}  // namespace keplerd
