// SPDX-License-Identifier: Apache-2.0
// Split=usage-ratio with Share=cpu-time, Kepler's rule: the part of a zone's energy that is active is the
// part of the CPU time that was busy, and everybody weighs the CPU time that they used, the same in all
// zones. Zones of processors and of memory; no graphics cards. Weights are nanoseconds.
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
  UsageRatio last_ratio_{0, 1};  // stands in where no tick has passed
  std::vector<std::int64_t> contenders_;
  std::vector<std::int64_t> process_;
  std::vector<std::int64_t> other_;
};

}  // namespace keplerd
