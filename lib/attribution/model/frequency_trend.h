// SPDX-License-Identifier: Apache-2.0
// How fast the processors of a zone ran in a window, compared with the first readings of busy CPUs. A
// frequency is read at one instant, and the number of busy cores, which it follows, is known for the whole
// window: so what is learned, by a Kalman filter, is how the frequency follows the busy cores, and, slowly,
// what else moves it (a governor, heat). Without any reading, a usual slope stands in.
//
// How many cores were busy depends on where threads ran, which is not known: between the number if each CPU
// was busy at random (spread), and that if the kernel filled idle cores first (filled). Both are followed.
#pragma once

#include <array>
#include <cstddef>

#include "attribution/model/placement.h"

namespace keplerd {

class FrequencyTrend {
 public:
  // kConstant: ln f with as many busy cores as at the first load. kSpread, kFilled: the change of ln f
  // from no busy core to all, as counted in each of the two ways.
  enum Parameter : std::size_t { kConstant, kSpread, kFilled, kParameters };
  using Values = std::array<double, kParameters>;

  // What it has learned, worth keeping for another run.
  struct Memory {
    double reference_khz = 0;                   // where ln f is 0; 0: never read
    double first_spread = 0, first_filled = 0;  // share of the cores that was busy at the first load
    Values value{}, variance{};                 // variances of 0: it has not started
  };

  // Learns from a window of `seconds`; returns ln(f / the reference), between -1 and 1. The reference is that
  // of the first readings, and stays: the filters' powers of a busy CPU are those at this frequency.
  double follow(const ZoneActivity& activity, double seconds);

  Memory memory() const;
  void restore(const Memory& memory);

 private:
  void start(double spread, double filled);
  double expected(const Values& at) const;
  void learn(const Values& at, double log);
  void settle_reference();
  double& q(std::size_t a, std::size_t b) { return covariance_[a * kParameters + b]; }
  double q(std::size_t a, std::size_t b) const { return covariance_[a * kParameters + b]; }

  bool started_ = false;
  std::size_t readings_ = 0;  // the first ones, that make up the reference
  double reference_khz_ = 0, first_spread_ = 0, first_filled_ = 0;
  Values value_{};
  std::array<double, kParameters * kParameters> covariance_{};
};

}  // namespace keplerd
