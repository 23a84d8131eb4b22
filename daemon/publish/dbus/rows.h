// SPDX-License-Identifier: Apache-2.0
// Converts rows of a report to D-Bus: (sssttttta{sv}), described in dbus/org.keplerd1.Manager.xml.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "daemon/publish/dbus/bus_compat.h"
#include "daemon/publish/dbus/changes.h"
#include "daemon/publish/dbus/names.h"
#include "report/fields.h"
#include "report/row_kinds.h"

namespace keplerd::dbus {

// id, name, state, energy, active, idle, power, cpu, details.
using Row = sdbus::Struct<std::string, std::string, std::string, std::uint64_t, std::uint64_t, std::uint64_t,
                          std::uint64_t, std::uint64_t, std::map<std::string, sdbus::Variant>>;
// id, name, energy, power.
using ZonePart = sdbus::Struct<std::string, std::string, std::uint64_t, std::uint64_t>;
using VmPartNumbers = sdbus::Struct<std::string, std::uint64_t>;
// when (us since 1970), id, name, event, reason or "".
using EventRow = sdbus::Struct<std::uint64_t, std::string, std::string, std::string, std::string>;
// kind, id of the zone or "", text, since when (us since 1970), details.
using ProblemRow = sdbus::Struct<std::string, std::string, std::string, std::uint64_t,
                                 std::map<std::string, sdbus::Variant>>;
// kind, rows, removed ids.
using KindRows = sdbus::Struct<std::string, std::vector<Row>, std::vector<std::string>>;
using HostNumbers =
    sdbus::Struct<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;
using AccountNumbers = sdbus::Struct<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;

inline std::uint64_t number(Microjoules energy) { return static_cast<std::uint64_t>(energy.value); }
inline std::uint64_t number(Realtime time) { return static_cast<std::uint64_t>(time.count()); }
inline std::uint64_t number(const std::optional<Microwatts>& power) {
  return power ? static_cast<std::uint64_t>(power->value) : kUnknown;
}
inline std::uint64_t usec(Nanoseconds span) { return static_cast<std::uint64_t>(to_usec(span)); }

// The value of a field (report/fields.h), or the substitute that a property shows if it is absent.
inline const std::string& bus_value(const std::string& text) { return text; }
inline std::string bus_value(std::string_view text) { return std::string(text); }
inline std::string bus_value(const std::shared_ptr<const std::string>& text) { return text ? *text : ""; }
inline bool bus_value(bool flag) { return flag; }
inline std::int32_t bus_value(std::int32_t number) { return number; }
inline std::uint32_t bus_value(std::uint32_t number) { return number; }
inline std::uint64_t bus_value(Microjoules energy) { return number(energy); }
inline std::uint64_t bus_value(Nanoseconds span) { return usec(span); }
inline std::uint64_t bus_value(Realtime time) { return number(time); }
inline std::map<std::string, std::string> bus_value(const VmMetadata& metadata) {
  return {metadata.begin(), metadata.end()};
}
std::vector<VmPartNumbers> bus_value(const VmParts& breakdown);
std::vector<ZonePart> bus_value(const ZoneShares& zones);
inline std::string bus_value(const std::optional<std::string>& text) { return text.value_or(""); }
inline std::string bus_value(const std::optional<std::string_view>& text) {
  return std::string(text.value_or(""));
}
inline bool bus_value(const std::optional<bool>& flag) { return flag.value_or(false); }
inline std::uint32_t bus_value(const std::optional<Uid>& user) { return user.value_or(UINT32_MAX); }
inline std::uint32_t bus_value(const std::optional<int>& count) {
  return static_cast<std::uint32_t>(count.value_or(0));
}
inline std::uint64_t bus_value(const std::optional<Microwatts>& power) { return number(power); }
inline std::uint64_t bus_value(const std::optional<Microjoules>& energy) {
  return energy ? number(*energy) : kUnknown;
}
inline std::uint64_t bus_value(const std::optional<Nanoseconds>& span) {
  return span ? usec(*span) : kUnknown;
}

HostNumbers host_numbers(const HostReport& host);
AccountNumbers account_numbers(const Report& report);

std::vector<EventRow> event_rows(std::span<const VmEvent> events);

Row make_row(const ReportView& view, RowKind kind, std::size_t index, bool details);
std::vector<KindRows> make_rows(const Changes& changes, bool details);

// The approximate size of these rows on the bus, in bytes.
std::size_t size_on_bus(const Row& row);

}  // namespace keplerd::dbus
