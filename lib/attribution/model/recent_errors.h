// SPDX-License-Identifier: Apache-2.0
// The last errors of a filter: those that are still alike ten seconds later come from its model.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace keplerd {

class RecentErrors {
 public:
  // How many windows of this length, in seconds, are ten seconds; at least one.
  static std::size_t lag(double seconds) {
    return static_cast<std::size_t>(std::clamp(std::round(kLag / seconds), 1.0, static_cast<double>(kMost)));
  }

  // The error so many windows ago, from 1, before the next one is added; 0 if there was none.
  double before(std::size_t windows) const { return errors_[(next_ + kMost - windows) % kMost]; }

  void add(double error) {
    errors_[next_] = error;
    next_ = (next_ + 1) % kMost;
  }

 private:
  static constexpr double kLag = 10;        // s
  static constexpr std::size_t kMost = 20;  // so long in the shortest windows

  std::array<double, kMost> errors_{};
  std::size_t next_ = 0;
};

}  // namespace keplerd
