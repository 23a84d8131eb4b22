// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace keplerd {

// What follows in a list of rows, one byte each.
enum class LogRow : std::uint8_t { kEnd, kRemoved, kChanged, kDescribed };

}  // namespace keplerd
