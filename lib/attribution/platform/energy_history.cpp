// SPDX-License-Identifier: Apache-2.0
#include "attribution/platform/energy_history.h"

namespace keplerd {

void EnergyHistory::add(Nanoseconds time, Microjoules total) {
  if (size_ > 0 && time <= point(size_ - 1).time) return;
  // The last point is always the latest; the one before it makes way if both are too close.
  if (size_ > 1 && time - point(size_ - 2).time < kClosest) {
    point(size_ - 1) = {time, total};
    return;
  }
  if (size_ == kMostPoints) {
    first_ = (first_ + 1) % kMostPoints;
  } else {
    ++size_;
  }
  point(size_ - 1) = {time, total};
}

std::optional<Microjoules> EnergyHistory::at(Nanoseconds time) const {
  if (size_ == 0 || time < point(0).time || time > point(size_ - 1).time) return std::nullopt;
  // The first point that is not before `time`.
  std::size_t after = 0;
  for (std::size_t end = size_ - 1; after < end;) {
    const std::size_t middle = (after + end) / 2;
    if (point(middle).time < time) {
      after = middle + 1;
    } else {
      end = middle;
    }
  }
  const Point& b = point(after);
  if (b.time == time) return b.total;
  const Point& a = point(after - 1);
  const __int128 energy = (b.total - a.total).value;
  return a.total +
         Microjoules{static_cast<std::int64_t>(energy * (time - a.time).count() / (b.time - a.time).count())};
}

std::optional<Microjoules> EnergyHistory::between(Nanoseconds from, Nanoseconds to) const {
  const auto start = at(from), end = at(to);
  if (!start || !end) return std::nullopt;
  return *end - *start;
}

}  // namespace keplerd
