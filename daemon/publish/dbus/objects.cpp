// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/dbus/objects.h"

#include <utility>

#include "daemon/publish/dbus/machine_object.h"
#include "daemon/publish/dbus/zone_object.h"

namespace keplerd::dbus {

Objects::Objects(sdbus::IConnection& connection, Turn& turn, Listeners listeners)
    : connection_(connection), turn_(turn), listeners_(std::move(listeners)) {}

Objects::~Objects() = default;

void Objects::update() {
  ++round_;
  const Report& report = *turn_;
  update_machines(report);
  update_zones(report);
}

void Objects::update_machines(const Report& report) {
  for (const MachineRow& row : report.machines) {
    auto& object = machines_[row.info->id];
    const bool is_new = object == nullptr;
    if (is_new) object = std::make_unique<MachineObject>(connection_, turn_, row);
    object->round = round_;
    object->tell_changes(row);
    if (!is_new || round_ == 1) continue;
    object->tell_added();
    listeners_.added(row.info->id, object->path());
  }
  for (auto entry = machines_.begin(); entry != machines_.end();) {
    if (entry->second->round == round_) {
      ++entry;
      continue;
    }
    const auto gone = machines_.extract(entry++);
    const sdbus::ObjectPath path = gone.mapped()->path();
    gone.mapped()->tell_removed();
    gone.mapped().reset();
    listeners_.removed(gone.key(), path);
  }
}

void Objects::update_zones(const Report& report) {
  for (const ZoneReport& row : report.zones) {
    auto& object = zones_[row.zone.id];
    const bool is_new = object == nullptr;
    if (is_new) object = std::make_unique<ZoneObject>(connection_, turn_, row);
    object->round = round_;
    object->tell_changes(row);
    if (is_new && round_ > 1) object->tell_added();
  }
  std::erase_if(zones_, [&](const auto& entry) {
    if (entry.second->round == round_) return false;
    entry.second->tell_removed();
    return true;
  });
}

}  // namespace keplerd::dbus
