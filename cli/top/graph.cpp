// SPDX-License-Identifier: Apache-2.0
#include "cli/top/graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace keplerd::cli::top {
namespace {

constexpr int kSteps = 8;
constexpr std::array<std::string_view, kSteps + 1> kBlocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, kSteps + 1> kAscii = {" ", "_", ".", ":", "-", "=", "+", "*", "#"};

// How many of the `height * kSteps` steps a value fills; rounded half up, at least one.
int level(std::int64_t value, std::int64_t most, int height) {
  if (most <= 0) return 1;
  const double share = static_cast<double>(value) / static_cast<double>(most);
  return std::clamp(static_cast<int>(std::lround(share * height * kSteps)), 1, height * kSteps);
}

}  // namespace

void History::add(std::optional<std::int64_t> value) {
  if (values_.size() == kMost) values_.erase(values_.begin());
  values_.push_back(value ? std::max<std::int64_t>(*value, 0) : kUnknown);
}

std::int64_t History::most(std::size_t count) const {
  const std::size_t shown = std::min(count, values_.size());
  std::int64_t most = 0;
  for (std::size_t i = 0; i < shown; ++i) most = std::max(most, values_[values_.size() - 1 - i]);
  return most;
}

std::optional<std::int64_t> History::back(std::size_t index) const {
  if (index >= values_.size()) return std::nullopt;
  const std::int64_t value = values_[values_.size() - 1 - index];
  if (value == kUnknown) return std::nullopt;
  return value;
}

std::vector<std::string> graph(const History& history, Size size, std::int64_t most, bool unicode) {
  const auto [width, height] = size;
  if (width <= 0 || height <= 0) return {};
  const auto& steps = unicode ? kBlocks : kAscii;
  const auto columns = static_cast<std::size_t>(width);
  std::vector<std::string> lines(static_cast<std::size_t>(height));
  for (std::size_t column = columns; column-- > 0;) {
    const auto value = history.back(column);
    const int filled = value ? level(*value, most, height) : 0;
    for (int line = 0; line < height; ++line) {
      const int below = (height - 1 - line) * kSteps;
      lines[static_cast<std::size_t>(line)] +=
          steps[static_cast<std::size_t>(std::clamp(filled - below, 0, kSteps))];
    }
  }
  return lines;
}

}  // namespace keplerd::cli::top
