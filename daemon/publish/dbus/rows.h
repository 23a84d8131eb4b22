// SPDX-License-Identifier: Apache-2.0
// Rows of a report as they go over D-Bus: (sssttttta{sv}), described in dbus/org.keplerd1.Manager.xml.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "daemon/publish/dbus/bus_compat.h"
#include "daemon/publish/dbus/changes.h"
#include "daemon/publish/dbus/names.h"
#include "daemon/publish/row_kinds.h"

namespace keplerd::dbus {

// id, name, state, energy, active, idle, power, cpu, details.
using Row = sdbus::Struct<std::string, std::string, std::string, std::uint64_t, std::uint64_t, std::uint64_t,
                          std::uint64_t, std::uint64_t, std::map<std::string, sdbus::Variant>>;
// id, name, energy, power.
using ZonePart = sdbus::Struct<std::string, std::string, std::uint64_t, std::uint64_t>;
using VmPartNumbers = sdbus::Struct<std::string, std::uint64_t>;
// when (us since 1970), id, name, event, reason or "".
using EventRow = sdbus::Struct<std::uint64_t, std::string, std::string, std::string, std::string>;
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
inline const char* state_name(bool running) { return running ? "running" : "terminated"; }

HostNumbers host_numbers(const HostReport& host);
AccountNumbers account_numbers(const Report& report);
std::vector<VmPartNumbers> vm_parts(const VmRow& row);
std::map<std::string, std::string> metadata_of(const VmRow& row);
std::vector<ZonePart> zone_parts(const Report& report, const WorkloadRow& row);

std::vector<EventRow> event_rows(std::span<const VmEvent> events);

Row make_row(const Report& report, RowKind kind, std::size_t index, bool details);
std::vector<KindRows> make_rows(const Changes& changes, bool details);

// About how many bytes these rows are on the bus.
std::size_t size_on_bus(const Row& row);

}  // namespace keplerd::dbus
