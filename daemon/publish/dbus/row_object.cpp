// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/dbus/row_object.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/publish/dbus/guarded.h"
#include "daemon/publish/dbus/object_path.h"
#include "daemon/publish/dbus/rows.h"
#include "report/fields.h"

namespace keplerd::dbus {
namespace {

const std::string& id_of(const VmRow& row) { return row.info->id; }
const std::string& id_of(const ZoneRow& row) { return row.zone.id; }

template <class Row>
struct Kind;

template <>
struct Kind<VmRow> {
  static constexpr const char* kPrefix = kVmPrefix;
  static constexpr const char* kInterface = kVmInterface;
  static const VmRow* find(const Report& report, const std::string& id) {
    const auto found = std::ranges::lower_bound(
        report.vms, id, {}, [](const VmRow& row) { return std::string_view(id_of(row)); });
    return found == report.vms.end() || id_of(*found) != id ? nullptr : &*found;
  }
};

template <>
struct Kind<ZoneRow> {
  static constexpr const char* kPrefix = kZonePrefix;
  static constexpr const char* kInterface = kZoneInterface;
  static const ZoneRow* find(const Report& report, const std::string& id) {
    const auto found =
        std::ranges::find(report.zones, id, [](const ZoneRow& row) { return std::string_view(id_of(row)); });
    return found == report.zones.end() ? nullptr : &*found;
  }
};

// What the row refers to lives only as long as its report.
VmRow without_zones(VmRow row) {
  row.zones = {};
  return row;
}
const ZoneRow& without_zones(const ZoneRow& row) { return row; }

// Whether the field's property emits its changes.
template <class Value>
bool is_same(const Value& a, const Value& b) {
  if constexpr (requires { a == b; }) {
    return a == b;
  } else {
    return true;
  }
}

template <class Row>
std::vector<PropertyName> names_that_emit() {
  std::vector<PropertyName> names;
  for_each_field<Row>([&](const auto& field) {
    if (field.property.emits == Emits::kChanges) names.emplace_back(std::string(field.property.name));
  });
  return names;
}

}  // namespace

template <class Row>
RowObject<Row>::RowObject(sdbus::IConnection& connection, Request& request, const Row& row)
    : request_(request),
      last_(without_zones(row)),
      object_(make_object(connection, object_path(Kind<Row>::kPrefix, id_of(row)))) {
  add_properties();
}

template <class Row>
RowObject<Row>::~RowObject() {
  object_->unregister();
}

template <class Row>
void RowObject<Row>::add_properties() {
  Properties properties(*object_, Kind<Row>::kInterface);
  for_each_field<Row>([&](const auto& field) {
    const Property& property = field.property;
    if (property.name.empty()) return;
    const auto value = [this, &field] {
      return guarded([&] { return bus_value(field.get(*request_, row())); });
    };
    properties.add(std::string(property.name), value,
                   property.emits == Emits::kNever     ? sdbus::Flags::CONST_PROPERTY_VALUE
                   : property.emits == Emits::kChanges ? sdbus::Flags::EMITS_CHANGE_SIGNAL
                                                       : sdbus::Flags::EMITS_NO_SIGNAL);
  });
  properties.publish();
}

template <class Row>
void RowObject<Row>::emit_changes(const Report& report, const Row& row) {
  bool changed = false;
  for_each_field<Row>([&](const auto& field) {
    if (field.property.emits == Emits::kChanges && !is_same(field.get(report, row), field.get(report, last_)))
      changed = true;
  });
  if (!changed) return;
  last_ = without_zones(row);
  static const std::vector<PropertyName> kNames = names_that_emit<Row>();
  object_->emitPropertiesChangedSignal(Kind<Row>::kInterface, kNames);
}

template <class Row>
const Row& RowObject<Row>::row() {
  const Row* const found = Kind<Row>::find(*request_, id_of(last_));
  if (found == nullptr) throw request_.unknown_object();
  return *found;
}

template class RowObject<VmRow>;
template class RowObject<ZoneRow>;

}  // namespace keplerd::dbus
