// SPDX-License-Identifier: Apache-2.0
#include "workloads/vm_size.h"

#include <algorithm>

#include "base/parse.h"

namespace keplerd {

std::optional<int> parse_vcpus(std::string_view text) {
  const auto number = parse_number<int>(text);
  return number && *number >= 1 && *number <= kMostVcpus ? number : std::nullopt;
}

std::optional<std::int64_t> parse_vm_memory(std::string_view text, std::int64_t unit) {
  constexpr std::string_view kSuffixes = "bkmgtp";
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view suffix = text.substr(digits);
  if (!suffix.empty()) {
    const auto power = kSuffixes.find(static_cast<char>(suffix[0] | 0x20));
    if (power == kSuffixes.npos) return std::nullopt;
    unit = std::int64_t{1} << (10 * power);
  }
  const auto number = parse_number<std::int64_t>(text.substr(0, digits));
  if (!number || *number <= 0 || *number >= kMost / unit) return std::nullopt;
  return *number * unit;
}

}  // namespace keplerd
