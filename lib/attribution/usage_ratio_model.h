// SPDX-License-Identifier: Apache-2.0
// Split=usage-ratio with Share=cpu-time, Kepler's rule: the active part of a zone's energy is the busy share
// of CPU time, and each contender's weight is the CPU time that it used, the same in all zones. Applies to
// processor and memory zones, not to graphics cards. Weights are nanoseconds.
#pragma once

#include <vector>

#include "attribution/model.h"
#include "attribution/split.h"

namespace keplerd {

class UsageRatioModel final : public Model {
 public:
  void begin(const UsageSample& usage, const Contenders& contenders) override;
  std::optional<Weighing> weigh(const DrawnEnergy& drawn) override;

 private:
  UsageRatio last_ratio_{0, 1};  // used if no tick has passed
  std::vector<std::int64_t> contenders_;
  std::vector<std::int64_t> process_;
  std::vector<std::int64_t> other_;
};

}  // namespace keplerd
