// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/dbus/objects.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "daemon/publish/dbus/object_path.h"
#include "daemon/publish/dbus/row_object.h"

namespace keplerd::dbus {
namespace {

bool is_at_or_below(std::string_view path, std::string_view prefix) {
  return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

}  // namespace

Objects::Objects(sdbus::IConnection& connection, Request& request, Listeners listeners)
    : connection_(connection),
      request_(request),
      listeners_(std::move(listeners)),
      listed_{list_path(connection, kVmPrefix), list_path(connection, kZonePrefix)} {}

Objects::~Objects() = default;

void Objects::check_known(Request& request, const std::string& interface) {
  const std::string& path = request.sender().path;
  if (request.sender().caller.full || interface == "org.freedesktop.DBus.Peer")
    return;  // the same for all paths
  // As in the bus policy: it would reveal all VMs.
  if (interface == "org.freedesktop.DBus.ObjectManager")
    throw make_error(kAccessDenied, "org.freedesktop.DBus.ObjectManager needs full access");
  if (is_at_or_below(path, kVmPrefix)) {
    const auto id = id_of_path(kVmPrefix, path);
    const auto is_it = [&](const VmRow& row) { return row.info->id == id; };
    if (std::ranges::none_of(request.get().vms, is_it)) throw request.unknown_object();
  }
  if (is_at_or_below(path, kZonePrefix)) {
    const auto id = id_of_path(kZonePrefix, path);
    const auto is_it = [&](const ZoneRow& row) { return row.zone.id == id; };
    if (std::ranges::none_of(request.get().zones, is_it)) throw request.unknown_object();
  }
}

void Objects::update() {
  ++round_;
  const Report& report = *request_;
  update_vms(report);
  update_zones(report);
}

void Objects::update_vms(const Report& report) {
  for (const VmRow& row : report.vms) {
    auto& object = vms_[row.info->id];
    const bool is_new = object == nullptr;
    if (is_new) object = std::make_unique<RowObject<VmRow>>(connection_, request_, row);
    object->round = round_;
    object->emit_changes(report, row);
    if (!is_new || round_ == 1) continue;
    object->emit_added();
    listeners_.added(row.info->id, object->path());
  }
  for (auto entry = vms_.begin(); entry != vms_.end();) {
    if (entry->second->round == round_) {
      ++entry;
      continue;
    }
    const auto gone = vms_.extract(entry++);
    const sdbus::ObjectPath path = gone.mapped()->path();
    gone.mapped()->emit_removed();
    gone.mapped().reset();
    listeners_.removed(gone.key(), path);
  }
}

void Objects::update_zones(const Report& report) {
  for (const ZoneRow& row : report.zones) {
    auto& object = zones_[row.zone.id];
    const bool is_new = object == nullptr;
    if (is_new) object = std::make_unique<RowObject<ZoneRow>>(connection_, request_, row);
    object->round = round_;
    object->emit_changes(report, row);
    if (is_new && round_ > 1) object->emit_added();
  }
  std::erase_if(zones_, [&](const auto& entry) {
    if (entry.second->round == round_) return false;
    entry.second->emit_removed();
    return true;
  });
}

}  // namespace keplerd::dbus
