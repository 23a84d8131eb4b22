// SPDX-License-Identifier: Apache-2.0
#include "cli/host_lines.h"

#include <array>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/fields.h"
#include "cli/screens.h"
#include "varlink/json.h"

namespace keplerd::cli {
namespace {

constexpr int kGap = 2, kDateWidth = 28, kClockWidth = 8;

struct HostColumn {
  std::string_view header;
  int width;   // negative: aligned to the left
  int leaves;  // the column with the highest number leaves first; 0: never
  std::string (*text)(const Json& tick);
};

std::string quality(const Json& tick) {
  if (const auto warning = source_warning(tick)) return warning->substr(0, warning->find(':'));
  return name_text(field(tick, "source"), "quality");
}

constexpr std::array<HostColumn, 5> kColumns = {{
    {"POWER", 8, 0, [](const Json& tick) { return power_text(field(tick, "host"), "powerMicrowatts"); }},
    {"ACTIVE", 8, 1, [](const Json& tick) { return power_text(field(tick, "host"), "activeMicrowatts"); }},
    {"IDLE", 8, 2, [](const Json& tick) { return power_text(field(tick, "host"), "idleMicrowatts"); }},
    {"ENERGY", 8, 3, [](const Json& tick) { return energy_text(field(tick, "host"), "energyMicrojoules"); }},
    {"QUALITY", -10, 0, quality},
}};
constexpr int kMostLeavingColumns = 3;

bool is_shown(const HostColumn& column, int left_out) {
  return column.leaves == 0 || column.leaves <= kMostLeavingColumns - left_out;
}

int width_of(int left_out, int time_width) {
  int width = time_width;
  for (const HostColumn& column : kColumns) {
    if (is_shown(column, left_out)) width += std::abs(column.width) + kGap;
  }
  return width;
}

void append(std::string& out, const HostColumn& column, std::string_view text) {
  out += column.width < 0 ? fmt::format("{:<{}}", text, -column.width)
                          : fmt::format("{:>{}}", text, column.width);
  out.append(kGap, ' ');
}

}  // namespace

HostLines::HostLines(std::optional<int> width) {
  if (!width || width_of(0, kDateWidth) <= *width) return;
  dates_ = false;
  while (columns_left_out_ < kMostLeavingColumns && width_of(columns_left_out_, kClockWidth) > *width) {
    ++columns_left_out_;
  }
}

std::string HostLines::header() const {
  std::string out;
  for (const HostColumn& column : kColumns) {
    if (is_shown(column, columns_left_out_)) append(out, column, column.header);
  }
  return out + "TIME";
}

std::string HostLines::line(const Json& tick) const {
  std::string out;
  for (const HostColumn& column : kColumns) {
    if (is_shown(column, columns_left_out_)) append(out, column, column.text(tick));
  }
  return out + (dates_ ? date_text(tick, "realtimeUsec") : clock_text(tick, "realtimeUsec")) + "\n";
}

}  // namespace keplerd::cli
