// SPDX-License-Identifier: Apache-2.0
#include "cli/output/csv.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "cli/fields.h"
#include "cli/wall.h"
#include "varlink/json.h"

namespace keplerd::cli {
namespace {

constexpr std::string_view kTime = "realtimeUsec";
constexpr std::array<std::string_view, 6> kHostFields = {"powerMicrowatts",   "activeMicrowatts",
                                                         "idleMicrowatts",    "energyMicrojoules",
                                                         "activeMicrojoules", "idleMicrojoules"};
constexpr std::array<std::string_view, 8> kRowFields = {
    "id",     "name", "state", "powerMicrowatts", "energyMicrojoules", "activeMicrojoules", "idleMicrojoules",
    "cpuUsec"};
constexpr auto kRowFieldsWithWall = [] {
  std::array<std::string_view, kRowFields.size() + 1> fields;
  std::copy(kRowFields.begin(), kRowFields.end(), fields.begin());
  fields.back() = kWallField;
  return fields;
}();

std::string quoted(std::string text) {
  if (!text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos) {
    text.insert(0, "'");
  }
  if (text.find_first_of("\",") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace

std::string csv_value(const Json& object, std::string_view name) {
  const auto number = integer_field(object, name);
  return number ? std::to_string(*number) : quoted(name_text(object, name));
}

namespace {

template <std::size_t kCount>
std::string header(const std::array<std::string_view, kCount>& fields) {
  std::string out(kTime);
  for (const std::string_view field : fields) out.append(",").append(field);
  return out + "\n";
}

template <std::size_t kCount>
std::string line(const Json& report, const Json& object, const std::array<std::string_view, kCount>& fields) {
  std::string out = csv_value(report, kTime);
  for (const std::string_view name : fields) out += "," + csv_value(object, name);
  return out + "\n";
}

}  // namespace

std::string csv_host_header() { return header(kHostFields); }
std::string csv_host_line(const Json& report) { return line(report, field(report, "host"), kHostFields); }

std::string csv_rows_header(bool wall) { return wall ? header(kRowFieldsWithWall) : header(kRowFields); }
std::string csv_row_line(const Json& report, const Json& row, bool wall) {
  return wall ? line(report, row, kRowFieldsWithWall) : line(report, row, kRowFields);
}

}  // namespace keplerd::cli
