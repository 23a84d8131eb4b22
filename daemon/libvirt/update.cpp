// SPDX-License-Identifier: Apache-2.0
#include "daemon/libvirt/update.h"

#include <nlohmann/json.hpp>

#include "workloads/identifier.h"

namespace keplerd {
namespace {

using Json = nlohmann::json;

std::string text_of(const Json& object, const char* name) {
  const auto value = object.find(name);
  return value != object.end() && value->is_string() ? limited_name(value->get_ref<const std::string&>())
                                                     : "";
}

}  // namespace

std::string format_update(const LibvirtUpdate& update) {
  Json line;
  if (update.kind == LibvirtUpdate::Kind::kAlive) line["alive"] = true;
  if (update.kind == LibvirtUpdate::Kind::kDomain)
    line["domain"] = {{"driver", update.driver}, {"id", update.id},       {"uuid", update.uuid},
                      {"name", update.name},     {"title", update.title}, {"state", update.state}};
  if (update.kind == LibvirtUpdate::Kind::kEnded)
    line["ended"] = {{"driver", update.driver}, {"uuid", update.uuid}, {"reason", update.reason}};
  return line.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::optional<LibvirtUpdate> parse_update(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || json.size() != 1) return std::nullopt;
  LibvirtUpdate update;
  const std::string& kind = json.begin().key();
  const Json& reported = json.begin().value();
  if (kind == "alive") return reported == true ? std::optional(update) : std::nullopt;
  if (!reported.is_object()) return std::nullopt;
  if (kind == "domain") {
    update.kind = LibvirtUpdate::Kind::kDomain;
  } else if (kind == "ended") {
    update.kind = LibvirtUpdate::Kind::kEnded;
  } else {
    return std::nullopt;
  }
  const auto id = reported.find("id");
  if (id != reported.end() && id->is_number_integer()) update.id = id->get<int>();
  update.driver = text_of(reported, "driver");
  update.uuid = canonical_uuid(text_of(reported, "uuid"));
  update.name = text_of(reported, "name");
  update.title = text_of(reported, "title");
  update.state = text_of(reported, "state");
  update.reason = text_of(reported, "reason");
  return update.uuid.empty() ? std::nullopt : std::optional(update);
}

}  // namespace keplerd
