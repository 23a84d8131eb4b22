// SPDX-License-Identifier: Apache-2.0
#include "cost/number.h"

#include <algorithm>
#include <string>

#include "base/parse.h"

namespace keplerd {

std::optional<std::int64_t> parse_millionths(std::string_view text, std::size_t further) {
  constexpr std::size_t kDecimals = 6;
  constexpr std::int64_t kMost = 1'000'000;
  const bool has_fraction = text.find('.') != std::string_view::npos;
  const auto whole = parse_number<std::uint64_t>(take_until(text, '.'));
  std::string fraction(has_fraction ? text : "0");
  const std::size_t decimals = fraction.size();
  if (decimals == 0 || decimals > kDecimals + further) return std::nullopt;
  const bool is_digits = std::ranges::all_of(fraction, [](char c) { return c >= '0' && c <= '9'; });
  fraction.resize(kDecimals, '0');
  const auto millionths = parse_number<std::uint32_t>(fraction);
  if (!whole || !is_digits || !millionths || *whole > kMost || (*whole == kMost && *millionths > 0))
    return std::nullopt;
  return static_cast<std::int64_t>(*whole) * kMillion + *millionths;
}

}  // namespace keplerd
