// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/dbus/options.h"

#include <algorithm>
#include <limits>

#include "daemon/publish/dbus/names.h"

namespace keplerd::dbus {
namespace {

constexpr std::size_t kMostOptions = 16, kLongestText = 256;
constexpr std::size_t kMostKinds = 16;

sdbus::Error bad_option(const std::string& name, const char* expected) {
  return make_error(kInvalidArguments, "option " + name + ": expected " + expected);
}

template <class T>
std::optional<std::uint64_t> number_as(const sdbus::Variant& value) {
  if (!value.containsValueOfType<T>()) return std::nullopt;
  const T number = value.get<T>();
  if constexpr (std::numeric_limits<T>::is_signed) {
    if (number < 0) return std::nullopt;
  }
  return static_cast<std::uint64_t>(number);
}

// Accepts any integer type: shells and scripting languages choose one on their own.
std::optional<std::uint64_t> number(const sdbus::Variant& value) {
  for (const auto as :
       {number_as<std::uint64_t>, number_as<std::uint32_t>, number_as<std::int32_t>, number_as<std::int64_t>,
        number_as<std::uint16_t>, number_as<std::int16_t>, number_as<std::uint8_t>}) {
    if (const auto read = as(value)) return read;
  }
  return std::nullopt;
}

std::size_t limit_of(const sdbus::Variant& value) {
  const auto limit = number(value);
  if (!limit) throw bad_option("limit", "an integer that is not negative");
  return static_cast<std::size_t>(*limit);
}

RowOrder order_of(const sdbus::Variant& value) {
  const auto order =
      value.containsValueOfType<std::string>() ? parse_row_order(value.get<std::string>()) : std::nullopt;
  if (!order) throw bad_option("sort", "a string: energy, power, cpu, name or id");
  return *order;
}

bool details_of(const sdbus::Variant& value) {
  if (!value.containsValueOfType<bool>()) throw bad_option("details", "a boolean");
  return value.get<bool>();
}

Nanoseconds interval_of(const sdbus::Variant& value) {
  constexpr std::uint64_t kLongest = std::numeric_limits<std::int64_t>::max() / 1000;
  const auto usec = number(value);
  if (!usec) throw bad_option("interval", "an integer, in microseconds, that is not negative");
  return std::chrono::microseconds(static_cast<std::int64_t>(std::min(*usec, kLongest)));
}

std::vector<RowKind> kinds_of(const sdbus::Variant& value) {
  constexpr char kExpected[] = "an array of units, vms, containers, pods, processes, zones";
  if (!value.containsValueOfType<std::vector<std::string>>()) throw bad_option("kinds", kExpected);
  const auto names = value.get<std::vector<std::string>>();
  if (names.size() > kMostKinds) throw bad_option("kinds", "at most 16 kinds");
  std::vector<RowKind> kinds;
  for (const std::string& name : names) {
    const auto kind = parse_row_kind(name);
    if (!kind) throw bad_option("kinds", kExpected);
    if (std::ranges::find(kinds, *kind) == kinds.end()) kinds.push_back(*kind);
  }
  return kinds;
}

template <class... Types>
bool is_one_of(const sdbus::Variant& value) {
  return (value.containsValueOfType<Types>() || ...);
}

bool is_small(const sdbus::Variant& value) {
  if (value.containsValueOfType<std::string>()) return value.get<std::string>().size() <= kLongestText;
  return is_one_of<bool, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
                   std::uint64_t, double>(value);
}

// Calls `take` with each option; those unknown to it must be small.
template <class Take>
void take_each(const VariantMap& options, Take take) {
  if (options.size() > kMostOptions) throw make_error(kInvalidArguments, "more than 16 options");
  for (const auto& [name, value] : options) {
    if (name.size() > kLongestText)
      throw make_error(kInvalidArguments, "the name of an option is longer than 256 bytes");
    if (!take(name, value) && !is_small(value))
      throw bad_option(name, "a number, a boolean or a string of up to 256 bytes (it is not known)");
  }
}

// False: the option is unknown.
template <class Options>
bool take_common(Options& parsed, const std::string& name, const sdbus::Variant& value) {
  if (name == "limit") {
    parsed.limit = limit_of(value);
  } else if (name == "sort") {
    parsed.order = order_of(value);
  } else if (name == "details") {
    parsed.details = details_of(value);
  } else {
    return false;
  }
  return true;
}

}  // namespace

ListOptions parse_list_options(const VariantMap& options) {
  ListOptions parsed;
  take_each(options, [&](const auto& name, const auto& value) { return take_common(parsed, name, value); });
  return parsed;
}

SubscribeOptions parse_subscribe_options(const VariantMap& options) {
  SubscribeOptions parsed;
  take_each(options, [&](const auto& name, const auto& value) {
    if (name == "kinds") {
      parsed.kinds = kinds_of(value);
    } else if (name == "interval") {
      parsed.interval = interval_of(value);
    } else {
      return take_common(parsed, name, value);
    }
    return true;
  });
  return parsed;
}

}  // namespace keplerd::dbus
