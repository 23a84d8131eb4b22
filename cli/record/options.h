// SPDX-License-Identifier: Apache-2.0
// The options of `keplerctl record`.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"

namespace keplerd::cli::record {

struct RecordOptions {
  std::string file;
  Nanoseconds duration = std::chrono::hours(1);
  std::uint64_t max_size = std::uint64_t{1} << 30;  // bytes of the file
  bool anonymize = false;
};

// "500K", "64M", "2G", or a number of bytes; nothing if it is malformed, 0 or too large.
std::optional<std::uint64_t> parse_size(std::string_view text);

}  // namespace keplerd::cli::record
