// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/dbus/rows.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace keplerd::dbus {
namespace {

using Details = std::map<std::string, sdbus::Variant>;

// Fields of the row itself, before its details.
constexpr std::array kColumns =
    std::to_array<std::string_view>({"id", "name", "state", "energyMicrojoules", "activeMicrojoules",
                                     "idleMicrojoules", "powerMicrowatts", "cpuUsec"});

template <class T>
Details details_of(const Report& report, const T& row) {
  Details details;
  for_each_field<T>([&](const auto& field) {
    if (std::ranges::find(kColumns, field.name) != kColumns.end()) return;
    const auto& value = field.get(report, row);
    if (!is_absent(value)) details.emplace(field.name, sdbus::Variant(bus_value(value)));
  });
  return details;
}

}  // namespace

std::vector<EventRow> event_rows(std::span<const VmEvent> events) {
  std::vector<EventRow> rows;
  for (const VmEvent& event : events)
    rows.emplace_back(number(event.at), event.id, event.name, event.event, event.reason.value_or(""));
  return rows;
}

std::vector<VmPartNumbers> bus_value(const VmParts& breakdown) {
  std::vector<VmPartNumbers> numbers;
  for (const VmPart& part : breakdown.parts) numbers.emplace_back(part.name, number(part.energy));
  return numbers;
}

HostNumbers host_numbers(const HostReport& host) {
  return HostNumbers{number(host.energy), number(host.active),       number(host.idle),
                     number(host.power),  number(host.active_power), number(host.idle_power)};
}

AccountNumbers account_numbers(const Report& report) {
  if (!report.full) return AccountNumbers{kUnknown, kUnknown, kUnknown, kUnknown};
  const AccountsReport& accounts = report.accounts;
  return AccountNumbers{number(accounts.idle), number(accounts.kernel), number(accounts.workloads),
                        number(accounts.unattributed)};
}

std::vector<ZonePart> bus_value(const ZoneShares& zones) {
  std::vector<ZonePart> parts;
  for (std::size_t i = 0; i < zones.shares.size(); ++i) {
    const Zone& zone = zones.report.zones[i].zone;
    if (!is_divided(zone)) continue;
    parts.emplace_back(zone.id, zone.name, number(zones.shares[i].energy), number(zones.shares[i].power));
  }
  return parts;
}

Row make_row(const ReportView& view, RowKind kind, std::size_t index, bool details) {
  return with_rows(kind, [&](auto rows_of) {
    const auto& row = rows_of(view)[index];
    const RowKey key = row_key(view, kind, index);
    return Row{key.id_text(),
               std::string(key.name),
               std::string(fields::state_text(is_running(row))),
               number(row.active + row.idle),
               number(row.active),
               number(row.idle),
               number(key.power),
               kind == RowKind::kZones ? kUnknown : usec(key.cpu),
               details ? details_of(*view.report, row) : Details()};
  });
}

std::vector<KindRows> make_rows(const Changes& changes, bool details) {
  std::vector<KindRows> kinds;
  for (const KindChanges& kind : changes.kinds) {
    std::vector<Row> rows;
    rows.reserve(kind.rows.size());
    for (const std::size_t row : kind.rows) rows.push_back(make_row(changes.view, kind.kind, row, details));
    kinds.emplace_back(std::string(row_kind_names(kind.kind).plural), std::move(rows), kind.removed);
  }
  return kinds;
}

// Without details: the numbers, and the framing of the texts. Details repeat ids, and name every zone: each
// is counted as its text and framing.
std::size_t size_on_bus(const Row& row) {
  std::size_t size = 80 + std::get<0>(row).size() + std::get<1>(row).size();
  for (const auto& [key, value] : std::get<8>(row)) {
    size += 32 + key.size();
    if (value.containsValueOfType<std::string>()) size += value.get<std::string>().size();
    if (key == "zones") size += 64 * value.get<std::vector<ZonePart>>().size();
  }
  return size;
}

}  // namespace keplerd::dbus
