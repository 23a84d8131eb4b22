// SPDX-License-Identifier: Apache-2.0
#include "meters/resctrl/counter_value.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "base/parse.h"
#include "base/text.h"

namespace keplerd::resctrl {
namespace {

constexpr std::size_t kShown = 40;
constexpr std::int64_t kMost = std::int64_t{1} << 62;

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kReasons = {{
    {"Error", "the processor reports an error"},
    {"Unavailable", "the processor has no counter for this group at present"},
    {"Unassigned", "no counter has been assigned to this group"},
}};

}  // namespace

Result<Bytes> parse_counter(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  for (const auto& [word, reason] : kReasons)
    if (text == word) return Error{.message = std::string(reason)};
  const auto number = parse_number<std::int64_t>(text);
  if (!number || *number < 0 || *number > kMost)
    return Error{.message = "'" + escape_name(text.substr(0, kShown)) + "' is not a number of bytes"};
  return Bytes{*number};
}

}  // namespace keplerd::resctrl
