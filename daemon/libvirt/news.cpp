// SPDX-License-Identifier: Apache-2.0
#include "daemon/libvirt/news.h"

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

std::string format_news(const LibvirtNews& news) {
  Json line;
  if (news.kind == LibvirtNews::Kind::kAlive) line["alive"] = true;
  if (news.kind == LibvirtNews::Kind::kDomain)
    line["domain"] = {{"driver", news.driver}, {"id", news.id},       {"uuid", news.uuid},
                      {"name", news.name},     {"title", news.title}, {"state", news.state}};
  if (news.kind == LibvirtNews::Kind::kEnded)
    line["ended"] = {{"driver", news.driver}, {"uuid", news.uuid}, {"reason", news.reason}};
  return line.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::optional<LibvirtNews> parse_news(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || json.size() != 1) return std::nullopt;
  LibvirtNews news;
  const std::string& kind = json.begin().key();
  const Json& told = json.begin().value();
  if (kind == "alive") return told == true ? std::optional(news) : std::nullopt;
  if (!told.is_object()) return std::nullopt;
  if (kind == "domain") {
    news.kind = LibvirtNews::Kind::kDomain;
  } else if (kind == "ended") {
    news.kind = LibvirtNews::Kind::kEnded;
  } else {
    return std::nullopt;
  }
  const auto id = told.find("id");
  if (id != told.end() && id->is_number_integer()) news.id = id->get<int>();
  news.driver = text_of(told, "driver");
  news.uuid = canonical_uuid(text_of(told, "uuid"));
  news.name = text_of(told, "name");
  news.title = text_of(told, "title");
  news.state = text_of(told, "state");
  news.reason = text_of(told, "reason");
  return news.uuid.empty() ? std::nullopt : std::optional(news);
}

}  // namespace keplerd
