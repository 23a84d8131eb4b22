// SPDX-License-Identifier: Apache-2.0
// How far a filter that learned the power of each workload can be trusted, compared with one that treats all
// workloads alike ("pooled"): by the errors of their predictions. So that what is learned does no harm where
// nothing can be learned.
#pragma once

#include <array>
#include <cstddef>

#include "attribution/model/recent_errors.h"

namespace keplerd {

// From where to where the trust falls from 1 to 0, if both have been reached: the correlation of errors at
// ten seconds, and the mean square error, of that without powers of workloads. Those of memory differ by
// more, so that errors last longer, and what is learned is worth more.
struct TrustLimits {
  std::array<double, 2> lag, ratio;
};
inline constexpr TrustLimits kProcessorTrust{.lag = {0.15, 0.35}, .ratio = {0.28, 0.36}};
inline constexpr TrustLimits kMemoryTrust{.lag = {0.2, 0.4}, .ratio = {0.3, 0.5}};

class Trust {
 public:
  explicit Trust(const TrustLimits& limits = kProcessorTrust) : limits_(limits) {}

  // The errors of both filters in a window, in W; `noise`: the variance of the pooled filter's, in W^2.
  void judge(double learned, double pooled, double noise, double seconds);

  // What is worth keeping for another run.
  struct Memory {
    double learned_squared = 0, pooled_squared = 0, learned_lag10 = 0;  // W^2
    double seconds = 0;
    double value = 0;
  };
  Memory memory() const { return {learned_squared_, pooled_squared_, learned_lag10_, seconds_, value_}; }
  void restore(const Memory& memory);

  double value() const { return value_; }  // 0: use the pooled filter, to 1: the learned one

 private:
  TrustLimits limits_;
  std::size_t windows_ = 0;
  double seconds_ = 0;
  RecentErrors errors_;  // of the learned filter
  double learned_squared_ = 0, pooled_squared_ = 0, learned_lag10_ = 0;
  double value_ = 0;
};

}  // namespace keplerd
