// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/go_duration.h"

#include <array>
#include <cstdint>
#include <utility>

#include "base/parse.h"

namespace keplerd::exporter::http {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kMost = 24h;
constexpr std::string_view kDigits = "0123456789";
// Longer units first where one begins with another.
constexpr std::array<std::pair<std::string_view, Nanoseconds>, 7> kUnits = {
    {{"ns", 1ns}, {"us", 1us}, {"\u00b5s", 1us}, {"ms", 1ms}, {"s", 1s}, {"m", 1min}, {"h", 1h}}};

std::string_view take_digits(std::string_view& text) {
  const std::string_view digits = text.substr(0, text.find_first_not_of(kDigits));
  text.remove_prefix(digits.size());
  return digits;
}

// "1.5h": removed from the front of `text`.
std::optional<Nanoseconds> take_part(std::string_view& text) {
  const std::string_view whole = take_digits(text);
  std::string_view fraction;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = take_digits(text);
  }
  if (whole.empty() && fraction.empty()) return std::nullopt;
  for (const auto& [name, unit] : kUnits) {
    if (!text.starts_with(name)) continue;
    text.remove_prefix(name.size());
    const auto count = whole.empty() ? 0 : parse_number<std::int64_t>(whole);
    if (!count || *count > kMost / unit) return std::nullopt;
    Nanoseconds sum = *count * unit;
    std::int64_t tenth = unit.count();
    for (const char digit : fraction) sum += Nanoseconds((digit - '0') * (tenth /= 10));
    return sum;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Nanoseconds> parse_go_duration(std::string_view text) {
  if (text == "0") return Nanoseconds{0};
  if (text.empty()) return std::nullopt;
  Nanoseconds sum{0};
  while (!text.empty()) {
    const auto part = take_part(text);
    if (!part || (sum += *part) > kMost) return std::nullopt;
  }
  return sum;
}

}  // namespace keplerd::exporter::http
