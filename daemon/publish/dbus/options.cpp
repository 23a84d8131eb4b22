// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/dbus/options.h"

#include <algorithm>
#include <limits>

#include "daemon/publish/dbus/names.h"

namespace keplerd::dbus {
namespace {

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

// Of any integer type: shells and scripting languages choose them without being asked.
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
  std::vector<RowKind> kinds;
  for (const std::string& name : value.get<std::vector<std::string>>()) {
    const auto kind = parse_row_kind(name);
    if (!kind) throw bad_option("kinds", kExpected);
    if (std::ranges::find(kinds, *kind) == kinds.end()) kinds.push_back(*kind);
  }
  return kinds;
}

}  // namespace

ListOptions parse_list_options(const VariantMap& options) {
  ListOptions parsed;
  for (const auto& [name, value] : options) {
    if (name == "limit") parsed.limit = limit_of(value);
    if (name == "sort") parsed.order = order_of(value);
    if (name == "details") parsed.details = details_of(value);
  }
  return parsed;
}

SubscribeOptions parse_subscribe_options(const VariantMap& options) {
  const ListOptions list = parse_list_options(options);
  SubscribeOptions parsed{.limit = list.limit, .order = list.order, .details = list.details};
  for (const auto& [name, value] : options) {
    if (name == "kinds") parsed.kinds = kinds_of(value);
    if (name == "interval") parsed.interval = interval_of(value);
  }
  return parsed;
}

}  // namespace keplerd::dbus
