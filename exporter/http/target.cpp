// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/target.h"

#include <algorithm>

namespace keplerd::exporter::http {

Target check_target(std::string_view target) {
  if (target.size() > kLongestTarget) return Target::kTooLong;
  const auto query = target.find('?');
  if (query == target.npos) return Target::kFine;
  const auto separators = std::ranges::count(target.substr(query + 1), '&');
  return static_cast<std::size_t>(separators) < kMostArguments ? Target::kFine : Target::kTooManyArguments;
}

}  // namespace keplerd::exporter::http
