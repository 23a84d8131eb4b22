// SPDX-License-Identifier: Apache-2.0
#include "cli/output/bar.h"

#include <fmt/format.h>

#include "cli/fields.h"
#include "cli/output/json.h"
#include "cli/screens.h"
#include "varlink/json.h"

namespace keplerd::cli {
namespace {

constexpr std::string_view kUnavailable = "unavailable";

// Waybar takes texts for Pango markup.
std::string as_markup(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string quality_of(const Json& tick) {
  const std::string quality = name_text(field(tick, "source"), "quality");
  return quality.empty() ? std::string(kUnavailable) : quality;
}

// A number that is not measured says so where it stands alone.
std::string text_of(const Json& object, const std::string& quality) {
  if (!integer_field(object, "powerMicrowatts")) return "-";
  const bool labelled = quality == "simulated" || quality == "estimated";
  return power_text(object, "powerMicrowatts") + (labelled ? " (" + quality + ")" : "");
}

}  // namespace

BarItem bar_item_of_host(const Json& tick) {
  const Json& host = field(tick, "host");
  BarItem item{"", source_line(tick, false), quality_of(tick)};
  item.text = text_of(host, item.quality);
  item.tooltip +=
      fmt::format("\n{} since {}", energy_text(host, "energyMicrojoules"), date_text(tick, "sinceUsec"));
  return item;
}

BarItem bar_item_of_row(const Json& tick, const Json& row) {
  if (row.is_null()) return {"-", "It is not running", std::string(kUnavailable)};
  BarItem item{"", "", quality_of(tick)};
  item.text = text_of(row, item.quality);
  item.tooltip = fmt::format("{}: {}, {}\n{}", name_text(row, "name"), power_text(row, "powerMicrowatts"),
                             energy_text(row, "energyMicrojoules"), source_line(tick, false));
  return item;
}

BarItem bar_item_of_outage(std::string_view reason) {
  return {"-", std::string(reason), std::string(kUnavailable)};
}

std::string bar_line(BarFormat format, const BarItem& item) {
  if (format != BarFormat::kWaybar) return item.text + "\n";
  const Json object = {
      {"text", as_markup(item.text)}, {"tooltip", as_markup(item.tooltip)}, {"class", item.quality}};
  return json_text(object, JsonMode::kShort);
}

}  // namespace keplerd::cli
