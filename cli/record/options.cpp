// SPDX-License-Identifier: Apache-2.0
#include "cli/record/options.h"

#include "base/parse.h"

namespace keplerd::cli::record {

std::optional<std::uint64_t> parse_size(std::string_view text) {
  unsigned shift = 0;
  if (take_suffix(text, "K")) {
    shift = 10;
  } else if (take_suffix(text, "M")) {
    shift = 20;
  } else if (take_suffix(text, "G")) {
    shift = 30;
  }
  constexpr std::uint64_t kMost = std::uint64_t{1} << 50;
  const auto number = parse_number<std::uint64_t>(text);
  if (!number || *number == 0 || *number > kMost >> shift) return std::nullopt;
  return *number << shift;
}

}  // namespace keplerd::cli::record
