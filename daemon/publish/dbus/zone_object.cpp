// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/dbus/zone_object.h"

#include <algorithm>
#include <vector>

#include "daemon/publish/dbus/object_path.h"

namespace keplerd::dbus {

ZoneObject::ZoneObject(sdbus::IConnection& connection, Request& request, const ZoneReport& row)
    : AdaptorInterfaces(connection, sdbus::ObjectPath(object_path(kZonePrefix, row.zone.id))),
      request_(request),
      zone_(row.zone),
      current_(row.current),
      problem_(row.problem) {
  registerAdaptor();
}

ZoneObject::~ZoneObject() { unregisterAdaptor(); }

void ZoneObject::emit_changes(const ZoneReport& row) {
  if (row.current == current_ && row.problem == problem_ && row.zone.quality == zone_.quality &&
      row.zone.in_total == zone_.in_total)
    return;
  zone_.quality = row.zone.quality;
  zone_.in_total = row.zone.in_total;
  current_ = row.current;
  problem_ = row.problem;
  std::vector<PropertyName> names;
  for (const char* const name : {"State", "Quality", "InTotal", "Problem"}) names.emplace_back(name);
  getObject().emitPropertiesChangedSignal(kZoneInterface, names);
}

const ZoneReport& ZoneObject::row() {
  const auto& zones = (*request_).zones;
  const auto found = std::ranges::find(
      zones, zone_.id, [](const ZoneReport& row) -> const std::string& { return row.zone.id; });
  if (found == zones.end()) throw request_.unknown_object();
  return *found;
}

std::string ZoneObject::Id() {
  return of_row([](const ZoneReport& row) { return row.zone.id; });
}
std::string ZoneObject::Name() {
  return of_row([](const ZoneReport& row) { return row.zone.name; });
}
std::int32_t ZoneObject::Index() {
  return of_row([](const ZoneReport& row) { return row.zone.index; });
}
std::string ZoneObject::State() {
  return of_row([](const ZoneReport& row) { return std::string(state_name(row.current)); });
}
std::string ZoneObject::Quality() {
  return of_row([](const ZoneReport& row) { return std::string(quality_name(row.zone.quality)); });
}
bool ZoneObject::InTotal() {
  return of_row([](const ZoneReport& row) { return row.zone.in_total; });
}
std::string ZoneObject::Problem() {
  return of_row([](const ZoneReport& row) { return row.problem.value_or(""); });
}
std::uint64_t ZoneObject::Energy() {
  return of_row([](const ZoneReport& row) { return number(row.energy); });
}
std::uint64_t ZoneObject::ActiveEnergy() {
  return of_row([](const ZoneReport& row) { return number(row.active); });
}
std::uint64_t ZoneObject::IdleEnergy() {
  return of_row([](const ZoneReport& row) { return number(row.idle); });
}
std::uint64_t ZoneObject::Power() {
  return of_row([](const ZoneReport& row) { return number(row.power); });
}
std::uint64_t ZoneObject::ActivePower() {
  return of_row([](const ZoneReport& row) { return number(row.active_power); });
}
std::uint64_t ZoneObject::IdlePower() {
  return of_row([](const ZoneReport& row) { return number(row.idle_power); });
}
std::uint64_t ZoneObject::SinceUSec() {
  return of_row([](const ZoneReport& row) { return number(row.since); });
}

}  // namespace keplerd::dbus
