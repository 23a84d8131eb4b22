// SPDX-License-Identifier: Apache-2.0
#include "config/setting_values.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "base/parse.h"
#include "base/text.h"
#include "config/settings.h"
#include "config/time_span.h"

namespace keplerd {
namespace {

// The names of powercap and hwmon zones; nothing that quotes or comments could be mistaken for.
bool is_zone_name(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_.:").find(c) != std::string_view::npos;
  });
}

// A VM's name as keplerctl shows it, its UUID, or another id of it.
bool is_vm_name(std::string_view name) {
  return is_plain_name(name) && name.find_first_of("\"'#;*?[]/") == std::string_view::npos;
}

// A pattern of names of units or of paths of cgroups.
bool is_pattern(std::string_view pattern) {
  return is_plain_name(pattern) && pattern.find_first_of("\"'#;") == std::string_view::npos;
}

// Names separated by blanks or commas.
Result<std::vector<std::string>> parse_names(std::string_view text, bool (*good)(std::string_view),
                                             const char* otherwise) {
  std::string blanks(text);
  std::replace(blanks.begin(), blanks.end(), ',', ' ');
  std::string_view rest = blanks;
  std::vector<std::string> names;
  for (auto name = take_word(rest); !name.empty(); name = take_word(rest)) {
    if (!good(name)) return Error{otherwise};
    names.emplace_back(name);
  }
  return names;
}

constexpr Microwatts kMostWatts{100'000'000'000};

}  // namespace

Result<std::vector<std::string>> parse_zones(std::string_view text) {
  return parse_names(
      text, is_zone_name,
      "must be names of zones, of letters, digits and \"-_.:\", separated by spaces or commas");
}

Result<std::vector<std::string>> parse_vms(std::string_view text) {
  return parse_names(text, is_vm_name,
                     "must be UUIDs or names of VMs, separated by spaces or commas, or \"all\"");
}

Result<std::vector<std::string>> parse_patterns(std::string_view text) {
  return parse_names(
      text, is_pattern,
      "must be names of units, paths of cgroups that begin with a slash, or \"largest\", separated by "
      "spaces or commas");
}

std::string format_names(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : " ") + name;
  // At the end of a line a backslash would be refused as its continuation.
  if (out.ends_with('\\')) out += ',';
  return out;
}

// Of a directory: absolute, and of no other that is above it.
Result<std::string> parse_directory(std::string_view text) {
  std::string_view rest = text;
  bool plain = text.starts_with('/') && is_plain_name(text);
  take_until(rest, '/');
  while (plain && !rest.empty()) {
    const auto name = take_until(rest, '/');
    plain = !name.empty() && name != "." && name != "..";
  }
  if (!plain || text == "/" || text.ends_with('/')) {
    return Error{"must be the absolute path of a directory, without \"..\" and without a slash at its end"};
  }
  return std::string(text);
}

std::string_view format_directory(std::string_view directory) { return directory; }

Result<Nanoseconds> parse_span(std::string_view text) {
  if (const auto span = parse_time_span(text)) return *span;
  return Error{"must be a time span like 500ms, 1s or \"1min 30s\""};
}

Result<Nanoseconds> parse_interval(std::string_view text) {
  const auto span = parse_span(text);
  if (!span || *span == Nanoseconds::zero()) return span;
  if (*span < kShortestInterval) return Error{"must be 0 (sample on demand) or from 10ms to 30s"};
  if (*span > kLongestInterval) {
    return Error{
        "must be 0 (sample on demand) or from 10ms to 30s: in a longer one an energy counter may wrap "
        "unseen"};
  }
  return span;
}

Result<Nanoseconds> parse_unwatched_interval(std::string_view text) {
  const auto span = parse_span(text);
  if (span && (*span < kShortestInterval || *span > kLongestInterval))
    return Error{"must be from 10ms to 30s"};
  return span;
}

Result<Nanoseconds> parse_staleness(std::string_view text) {
  const auto span = parse_span(text);
  if (span && *span > kLongestInterval) return Error{"must be from 0 to 30s"};
  return span;
}

Result<std::optional<std::size_t>> parse_count(std::string_view text) {
  if (text == "infinity" || text == "-1") return std::optional<std::size_t>{};
  if (const auto number = parse_number<std::uint32_t>(text)) return std::optional<std::size_t>{*number};
  return Error{"must be a number from 0 to 4294967295, or \"infinity\" (-1 means the same)"};
}

Result<std::size_t> parse_descriptors(std::string_view text) {
  constexpr std::size_t kFewest = 64, kMost = 200'000;
  const auto number = parse_number<std::size_t>(text);
  if (number && *number >= kFewest && *number <= kMost) return *number;
  return Error{fmt::format("must be a number between {} and {}", kFewest, kMost)};
}

std::string format_descriptors(std::size_t count) { return fmt::format("{}", count); }

std::string format_count(std::optional<std::size_t> count) {
  return count ? std::to_string(*count) : "infinity";
}

Result<std::optional<Nanoseconds>> parse_retention(std::string_view text) {
  if (text == "infinity") return std::optional<Nanoseconds>{};
  if (const auto span = parse_time_span(text)) return std::optional<Nanoseconds>{*span};
  return Error{"must be a time span like 30min or 2d, or \"infinity\""};
}

std::string format_retention(std::optional<Nanoseconds> span) {
  return span ? format_time_span(*span) : "infinity";
}

Result<Microjoules> parse_least_energy(std::string_view text) {
  if (const auto energy = parse_energy(text)) return *energy;
  return Error{"must be an amount of energy like 500mJ, 10J, 2.5kJ or 1Wh"};
}

// Whole microwatts; what parse_energy says of joules holds for watts.
Result<std::optional<Microwatts>> parse_watts(std::string_view text) {
  if (text.empty()) return std::optional<Microwatts>{};
  const bool number =
      std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  const auto joules = number ? parse_energy(text) : std::nullopt;
  if (!joules || joules->value > kMostWatts.value) {
    return Error{"must be a number of watts like 35 or 12.5, at most 100000"};
  }
  return std::optional<Microwatts>{{joules->value}};
}

std::string format_watts(std::optional<Microwatts> power) {
  if (!power) return "";
  auto text = fmt::format("{}.{:06}", power->value / 1'000'000, power->value % 1'000'000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace keplerd
