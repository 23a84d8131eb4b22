// SPDX-License-Identifier: Apache-2.0
// How far a meter of the platform lags behind the meters of its parts, beyond the times of its readings: a
// management controller averages over seconds, and reports later still. Their powers move together where one
// is shifted by that lag. For each candidate the correlation of the last minutes is kept; nothing is learned
// from a constant load. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "attribution/platform/energy_history.h"
#include "attribution/platform/moments.h"
#include "base/units.h"

namespace keplerd {

// What a meter of the platform has counted between two times.
struct PlatformStep {
  Nanoseconds from{0}, to{0};  // CLOCK_BOOTTIME, as its readings refer to them
  Microjoules energy;
};

class LagEstimate {
 public:
  static constexpr Nanoseconds kLagStep = std::chrono::milliseconds(500);
  static constexpr Nanoseconds kLargestLag = std::chrono::seconds(30);
  // A longer step says nothing about lags.
  static constexpr Nanoseconds kLongestStep = std::chrono::seconds(15);

  // `parts`: the total of what the parts have drawn.
  void add(const PlatformStep& step, const EnergyHistory& parts);

  // Unset until it is known.
  const std::optional<Nanoseconds>& lag() const { return lag_; }
  // Continues from what was known earlier.
  void restore(Nanoseconds lag);

 private:
  static constexpr std::size_t kCandidates = kLargestLag / kLagStep + 1;

  void choose();

  std::array<Moments, kCandidates> candidates_{};  // x: power of the parts, y: of the platform
  std::optional<Nanoseconds> lag_;
};

}  // namespace keplerd
