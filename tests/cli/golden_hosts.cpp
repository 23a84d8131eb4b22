// SPDX-License-Identifier: Apache-2.0
// Several hosts: one as in host.json, a smaller one, and one that has not answered.
#include "cli/fleet/lists.h"
#include "cli/fleet/reports.h"
#include "cli/fleet/statuses.h"
#include "cli/golden.h"
#include "cli/history/output.h"
#include "varlink/json.h"

namespace keplerd::cli {
namespace {

using varlink::Json;

TableStyle style_of(const Look& look) {
  return {.bold_header = look.colour, .width = look.width, .unicode = look.unicode};
}

std::vector<fleet::Reply> replies_of(const Json& first, const Json& second) {
  return {{"web1.example.org", first, ""},
          {"admin@10.0.0.7:2222", second, ""},
          {"web3", {}, "ssh: connect to host web3 port 22: Connection refused"}};
}

Golden list_of(client::Kind kind) {
  const fleet::ListKind list = fleet::list_kind(kind);
  return {"hosts-" + std::string(client::name_of(kind)), [=](const Look& look) {
            const Json host = Json::parse(read_golden("host.json"));
            const Json& rows = host.at(std::string(client::name_of(kind)));
            const std::string key(list.json_key);
            const auto replies = replies_of({{key, rows}}, {{key, Json::array({rows.front()})}});
            return fleet::list_screen(list, replies, {}, style_of(look));
          }};
}

std::string statuses(const Look& look) {
  const Json status = Json::parse(read_golden("host.json")).at("status");
  Json simulated = status;
  simulated["source"] = {{"name", "simulated"}, {"quality", "simulated"}};
  return fleet::status_screen(replies_of(status, simulated), false, style_of(look));
}

std::string report(const Look& look) {
  const Json recorded = Json::parse(read_golden("history.json"));
  auto replies = replies_of({{"report", recorded.at("report")}}, {{"report", recorded.at("report")}});
  return history::report_text(fleet::report_json(replies), "vm", style_of(look));
}

}  // namespace

std::vector<Golden> golden_hosts() {
  return {list_of(client::Kind::kVms),
          list_of(client::Kind::kUnits),
          list_of(client::Kind::kContainers),
          {"hosts-status", statuses},
          {"hosts-report", report}};
}

}  // namespace keplerd::cli
