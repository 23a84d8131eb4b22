// SPDX-License-Identifier: Apache-2.0
// What a power filter learns from. Power is in watts, time in seconds; power_filter.h says what the letters
// are.
#pragma once

#include <array>
#include <cstddef>

namespace keplerd {

// Workloads whose d a filter learns; slot 0 is that of all others.
inline constexpr std::size_t kSlots = 64;

struct PowerObservation {
  double watts = 0;
  double seconds = 0;
  double awake = 0;                    // a
  double least_awake = 0;              // a, if the CPUs were busy at the same time
  double load = 0;                     // X
  double siblings = 0;                 // O
  double frequency = 0;                // L
  double cpus = 0;                     // logical CPUs of the zone
  bool is_new = true;                  // few windows so far, or no minute with so little load
  std::array<double, kSlots> share{};  // b; the sum is 1, or all are 0 without load
};

}  // namespace keplerd
