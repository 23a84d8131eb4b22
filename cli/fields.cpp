// SPDX-License-Identifier: Apache-2.0
#include "cli/fields.h"

#include <algorithm>

#include "base/text.h"
#include "cli/output/human.h"
#include "varlink/json.h"

namespace keplerd::cli {

std::string power_text(const Json& object, std::string_view name) {
  const auto power = integer_field(object, name);
  return power ? format_power({*power}) : "-";
}

std::string energy_text(const Json& object, std::string_view name) {
  const auto energy = integer_field(object, name);
  return energy ? format_energy({*energy}) : "-";
}

std::string time_text(const Json& object, std::string_view name) {
  const auto span = integer_field(object, name);
  return span ? format_time(std::chrono::microseconds(*span)) : "-";
}

std::string date_text(const Json& object, std::string_view name) {
  const auto date = integer_field(object, name);
  return date ? format_date(std::chrono::microseconds(*date)) : "-";
}

std::string name_text(const Json& object, std::string_view name) {
  return printable(string_field(object, name).value_or(""));
}

std::optional<double> own_cpu_percent(const Json& status) {
  const auto cpu = integer_field(status, "daemonWindowCpuUsec");
  const auto window = integer_field(status, "windowUsec");
  if (!cpu || !window || *window <= 0) return std::nullopt;
  return 100.0 * static_cast<double>(*cpu) / static_cast<double>(*window);
}

std::string printable(std::string_view text) {
  // escape_name() would escape the backslash of an escape, too; the parts between backslashes have none.
  std::string out;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find('\\', start), text.size());
    out += escape_name(text.substr(start, end - start));
    if (end < text.size()) out += '\\';
    start = end + 1;
  }
  return out;
}

std::string json_line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace keplerd::cli
