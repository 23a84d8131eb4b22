// SPDX-License-Identifier: Apache-2.0
// What the texts of usage files have in common. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace keplerd {

// "unknown REASON": that reason, as an error; unset if the line is another one.
std::optional<Error> unknown_reason(std::string_view first_line);

// A time in microseconds since the boot.
std::optional<Nanoseconds> parse_boottime(std::string_view text);

Error bad_usage_line(std::size_t number, std::string_view line, std::string_view expected);

}  // namespace keplerd
