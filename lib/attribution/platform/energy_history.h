// SPDX-License-Identifier: Apache-2.0
// What was drawn by when, for the last minutes: the energy of a meter that lags behind is compared with what
// others drew at the time that it refers to. Bounded. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "base/units.h"

namespace keplerd {

class EnergyHistory {
 public:
  static constexpr Nanoseconds kClosest = std::chrono::milliseconds(250);  // points that are kept
  static constexpr std::size_t kMostPoints = 720;                          // three minutes of these

  // A running total at `time`, which is later than that of the point before.
  void add(Nanoseconds time, Microjoules total);
  void clear() { size_ = 0; }

  // The total at `time`, interpolated linearly. Unset before the first point and after the last.
  std::optional<Microjoules> at(Nanoseconds time) const;
  // What was drawn between two times.
  std::optional<Microjoules> between(Nanoseconds from, Nanoseconds to) const;

 private:
  struct Point {
    Nanoseconds time{0};
    Microjoules total;
  };
  // The points from the oldest on.
  const Point& point(std::size_t i) const { return points_[(first_ + i) % kMostPoints]; }
  Point& point(std::size_t i) { return points_[(first_ + i) % kMostPoints]; }

  std::array<Point, kMostPoints> points_;
  std::size_t first_ = 0, size_ = 0;
};

}  // namespace keplerd
