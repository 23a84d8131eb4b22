// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/row_text.h"

#include "report/fields.h"
#include "varlink/json_text.h"

namespace keplerd {
namespace {

using varlink::ArrayWriter;
using varlink::ObjectWriter;
using varlink::write_json;

void write_json(std::string& out, Microjoules energy) { write_json(out, energy.value); }
void write_json(std::string& out, Microwatts power) { write_json(out, power.value); }
void write_json(std::string& out, Nanoseconds span) { write_json(out, to_usec(span)); }
void write_json(std::string& out, Realtime time) { write_json(out, std::int64_t{time.count()}); }
void write_json(std::string& out, const VmMetadata& metadata) { write_json(out, varlink::Json(metadata)); }

void write_json(std::string& out, const std::shared_ptr<const std::string>& text) {
  write_json(out, std::string_view(*text));
}

void write_unless_zero(ObjectWriter& object, std::string_view name, Microjoules energy) {
  if (energy != Microjoules{}) write_json(object.member(name), energy);
}

void write_json(std::string& out, const VmParts& breakdown) {
  ArrayWriter parts(out);
  for (const VmPart& part : breakdown.parts) {
    ObjectWriter one(parts.element());
    write_json(one.member("name"), part.name);
    write_json(one.member("energyMicrojoules"), part.energy);
    write_unless_zero(one, "earlierMicrojoules", earlier_of(breakdown, part));
  }
}

void write_json(std::string& out, const ZoneShares& zones) {
  ArrayWriter list(out);
  for (std::size_t i = 0; i < zones.shares.size(); ++i) {
    const Zone& zone = zones.report.zones[i].zone;
    if (!is_divided(zone)) continue;
    const ZoneShare& share = zones.shares[i];
    ObjectWriter one(list.element());
    write_json(one.member("id"), zone.id);
    write_json(one.member("name"), zone.name);
    write_json(one.member("index"), zone.index);
    write_json(one.member("energyMicrojoules"), share.energy);
    write_unless_zero(one, "idleMicrojoules", share.idle);
    if (share.power) write_json(one.member("powerMicrowatts"), *share.power);
    if (share.idle_power) write_json(one.member("idleMicrowatts"), *share.idle_power);
    if (share.is_counted) write_json(one.member("counted"), true);
    write_unless_zero(one, "earlierMicrojoules", earlier_of(zones, i));
    write_unless_zero(one, "earlierIdleMicrojoules", earlier_idle_of(zones, i));
  }
}

template <class T>
void write_json(std::string& out, const std::optional<T>& value) {
  write_json(out, *value);
}

template <class Row>
void write_row(std::string& out, const Report& report, const Row& row) {
  ObjectWriter object(out);
  for_each_field<Row>([&](const auto& field) {
    const auto& value = field.get(report, row);
    if (!is_absent(value)) write_json(object.member(field.name), value);
  });
}

}  // namespace

void write_row(std::string& out, const ReportView& view, RowKind kind, std::size_t index) {
  with_rows(kind, [&](auto rows_of) { write_row(out, *view.report, rows_of(view)[index]); });
}

varlink::ReplyText row_reply(const ReportView& view, RowKind kind, std::size_t index) {
  return varlink::ReplyText([&](std::string& out) {
    ObjectWriter object(out);
    write_row(object.member("row"), view, kind, index);
  });
}

}  // namespace keplerd
