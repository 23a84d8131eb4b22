// SPDX-License-Identifier: Apache-2.0
// The delays between attempts to connect to keplerd again: 250 ms, doubled up to 5 s.
#pragma once

#include <algorithm>
#include <chrono>

namespace keplerd::cli {

class Backoff {
 public:
  std::chrono::milliseconds next() {
    delay_ = std::clamp(delay_ * 2, kFirst, kLongest);
    return delay_;
  }
  void reset() { delay_ = {}; }

 private:
  static constexpr std::chrono::milliseconds kFirst{250}, kLongest{5000};
  std::chrono::milliseconds delay_{};
};

}  // namespace keplerd::cli
