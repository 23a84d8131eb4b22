// SPDX-License-Identifier: Apache-2.0
// keplerctl's screens of keplerd's replies, one a line: the first is that of GetStatus, the second that of a
// report of keplerd-history, and the others are rows. Names are whatever a user has chosen: nothing that a
// terminal would obey is shown, no screen is wider than its numbers need, and none fails.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/parse.h"
#include "base/text.h"
#include "cli/history/output.h"
#include "cli/output/csv.h"
#include "cli/screens.h"
#include "cli/wall.h"
#include "varlink/json.h"
#include "varlink/parse_json.h"

namespace {

using namespace keplerd;
using namespace keplerd::cli;
using varlink::Json;

void check_safe(std::string_view screen, bool unicode) {
  while (!screen.empty()) {
    if (screen.front() == '\n') {
      screen.remove_prefix(1);
      continue;
    }
    const auto character = first_character(screen);
    if (!character || !is_printable(character->code_point)) std::abort();
    if (!unicode && character->code_point > 0x7e) std::abort();
    screen.remove_prefix(character->length);
  }
}

Json parsed_line(std::string_view& rest) {
  auto json = varlink::parse_json(take_until(rest, '\n'));
  return json && json->is_object() ? *std::move(json) : Json::object();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const Json status = parsed_line(rest);
  Json report = parsed_line(rest);
  std::vector<Json> rows;
  while (!rest.empty() && rows.size() < 20) rows.push_back(parsed_line(rest));
  const auto wall = Wall::of(status);
  if (wall) wall->add_to(rows);
  for (const bool unicode : {true, false}) {
    const TableStyle style{.width = 40, .unicode = unicode};
    check_safe(status_screen(status, style), unicode);
    check_safe(overview_screen(status, rows, wall ? &*wall : nullptr, style), unicode);
    for (const client::KindInfo& kind : client::kKinds) {
      Options options;
      options.tree = kind.kind == client::Kind::kUnits;
      check_safe(list_screen({kind, status, options, style}, rows), unicode);
    }
    for (const Json& row : rows) check_safe(row_screen(row, style), unicode);
  }
  for (const Json& row : rows) (void)csv_row_line(status, row);
  if (!report.contains("rows") || !report["rows"].is_array()) report["rows"] = Json::array();
  if (wall) history::add_wall(report, *wall);
  check_safe(history::report_text(report, "vm", {.width = 40, .unicode = false}), false);
  check_safe(history::history_text({"vms", ""}, {report}, true, {.width = 40, .unicode = false}), false);
  return 0;
}
