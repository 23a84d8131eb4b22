// SPDX-License-Identifier: Apache-2.0
#include "usage/usage_lines.h"

#include <chrono>
#include <cstdint>

#include <fmt/format.h>

#include "base/parse.h"
#include "base/text.h"

namespace keplerd {
namespace {

constexpr std::int64_t kLatest = INT64_MAX / 1000;  // microseconds: a clock counts nanoseconds
constexpr std::size_t kShownOfLine = 80, kLongestReason = 200;

}  // namespace

std::optional<Error> unknown_reason(std::string_view first_line) {
  if (!take_prefix(first_line, "unknown ")) return std::nullopt;
  return Error{.message = escape_name(first_line.substr(0, kLongestReason))};
}

std::optional<Nanoseconds> parse_boottime(std::string_view text) {
  const auto time = parse_number<std::int64_t>(text);
  if (!time || *time < 0 || *time > kLatest) return std::nullopt;
  return std::chrono::microseconds(*time);
}

Error bad_usage_line(std::size_t number, std::string_view line, std::string_view expected) {
  return {.message = fmt::format("line {} is '{}' (expected {})", number,
                                 escape_name(line.substr(0, kShownOfLine)), expected)};
}

}  // namespace keplerd
