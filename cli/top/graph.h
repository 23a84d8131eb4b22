// SPDX-License-Identifier: Apache-2.0
// Draws power over time as text: block characters, or ASCII if the locale is not UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/top/line.h"

namespace keplerd::cli::top {

// The last values of one quantity, oldest first.
class History {
 public:
  // Unset: unknown at that time.
  void add(std::optional<std::int64_t> value);
  std::size_t size() const { return values_.size(); }
  // The maximum of the last `count` values; 0 if none is known.
  std::int64_t most(std::size_t count) const;
  // `index` counts back from the newest, which is 0.
  std::optional<std::int64_t> back(std::size_t index) const;

 private:
  static constexpr std::size_t kMost = 240;
  static constexpr std::int64_t kUnknown = -1;
  std::vector<std::int64_t> values_;
};

// `size.height` lines of `size.width` columns, the newest value at the right, scaled from 0 to `most`. A
// known value is at least the lowest block; an unknown one is blank.
std::vector<std::string> graph(const History& history, Size size, std::int64_t most, bool unicode);

}  // namespace keplerd::cli::top
