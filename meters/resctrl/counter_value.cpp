// SPDX-License-Identifier: Apache-2.0
#include "meters/resctrl/counter_value.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

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

std::string_view without_newline(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

// The reason why `text` is no number `of` something.
Error no_number(std::string_view text, std::string_view of) {
  for (const auto& [word, reason] : kReasons)
    if (text == word) return {.message = std::string(reason)};
  return {.message = fmt::format("'{}' is not a number of {}", escape_name(text.substr(0, kShown)), of)};
}

std::optional<std::int64_t> parse_digits(std::string_view text, std::int64_t most) {
  const auto number = parse_number<std::int64_t>(text);
  return number && *number >= 0 && *number <= most && !text.starts_with('-') ? number : std::nullopt;
}

// Of a decimal fraction of 1, the first six digits, as a number.
std::optional<std::int64_t> parse_millionths(std::string_view decimals) {
  constexpr std::string_view kDigits = "0123456789";
  if (decimals.empty() || decimals.find_first_not_of(kDigits) != std::string_view::npos) return std::nullopt;
  std::string digits(decimals.substr(0, 6));
  digits.resize(6, '0');
  return parse_number<std::int64_t>(digits);
}

}  // namespace

Result<Count> parse_bytes(std::string_view text) {
  const std::string_view line = without_newline(text);
  const auto bytes = parse_digits(line, kMost);
  if (!bytes) return no_number(line, "bytes");
  return Count{*bytes};
}

Result<Count> parse_joules(std::string_view text) {
  const std::string_view line = without_newline(text);
  std::string_view decimals = line;
  const auto whole = parse_digits(take_until(decimals, '.'), kMost / 1'000'000 - 1);
  const auto millionths = line.find('.') == std::string_view::npos ? 0 : parse_millionths(decimals);
  if (!whole || !millionths) return no_number(line, "joules");
  return Count{*whole * 1'000'000 + *millionths};
}

}  // namespace keplerd::resctrl
