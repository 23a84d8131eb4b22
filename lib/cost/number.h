// SPDX-License-Identifier: Apache-2.0
// Decimal numbers as exact integers. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace keplerd {

inline constexpr std::int64_t kMillion = 1'000'000;

// "0.32" in millionths; from 0 to 1000000. At least one digit on both sides of a point, no sign, no exponent.
// Decimals after the sixth, of which there may be `further`, are dropped.
std::optional<std::int64_t> parse_millionths(std::string_view text, std::size_t further = 0);

}  // namespace keplerd
