// SPDX-License-Identifier: Apache-2.0
#include "cli/fields.h"

#include <cstdint>
#include <cstdlib>

#include <fmt/format.h>

#include "cli/output/column_unit.h"
#include "cli/output/human.h"

namespace keplerd::cli {

std::string power_text(const Json& object, std::string_view name) {
  const auto power = integer_field(object, name);
  return power ? format_power({*power}) : "-";
}

std::string signed_power_text(const Json& object, std::string_view name) {
  const auto power = integer_field(object, name);
  if (!power) return "-";
  const std::int64_t size = *power == INT64_MIN ? INT64_MAX : std::abs(*power);
  return (*power < 0 ? "-" : "") + format_power({size});
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

std::string clock_text(const Json& object, std::string_view name) {
  const auto date = integer_field(object, name);
  return date ? format_clock(std::chrono::microseconds(*date)) : "-";
}

std::string name_text(const Json& object, std::string_view name) {
  return printable(client::text(object, name));
}

std::string error_text(const Json& row) {
  const auto error = integer_field(row, "errorMicrojoules"), active = integer_field(row, "activeMicrojoules");
  if (!error || !active || *active <= 0) return {};
  return fmt::format("{:.0f}%", 100 * static_cast<double>(*error) / static_cast<double>(*active));
}

std::string share_text(const Json& object, std::string_view name, std::optional<std::int64_t> whole) {
  const auto part = integer_field(object, name);
  return part && whole ? format_percent(*part, *whole) : "-";
}

std::optional<double> own_cpu_percent(const Json& status) {
  const auto cpu = integer_field(status, "daemonWindowCpuUsec");
  const auto window = integer_field(status, "windowUsec");
  if (!cpu || !window || *window <= 0) return std::nullopt;
  return 100.0 * static_cast<double>(*cpu) / static_cast<double>(*window);
}

}  // namespace keplerd::cli
