// SPDX-License-Identifier: Apache-2.0
#include "cli/wall.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "cli/fields.h"
#include "cli/output/human.h"
#include "cli/rows_table.h"
#include "cli/screens.h"
#include "varlink/json.h"

namespace keplerd::cli {
namespace {

// Products of a plausible slope and power fit.
constexpr double kSteepest = 1000;
constexpr std::int64_t kMostPower = 1'000'000'000'000'000;
constexpr std::int64_t kMostEnergy = std::int64_t{1} << 53;

// Of a row, or of its part of a zone. Unset if it is not known.
std::optional<std::int64_t> active_power(const Json& object) {
  const auto power = integer_field(object, "powerMicrowatts");
  if (!power || *power < 0 || *power > kMostPower) return std::nullopt;
  return *power - std::clamp(integer_field(object, "idleMicrowatts").value_or(0), std::int64_t{0}, *power);
}

// What whole cards draw because of a row, as graphics_power() has it. Unset if that is implausible.
std::optional<std::int64_t> active_graphics(const Json& row) {
  std::int64_t sum = 0;
  for (const Json& zone : field(row, "zones")) {
    if (string_field(zone, "name") == "gpu") sum += active_power(zone).value_or(0);
    if (sum > kMostPower) return std::nullopt;
  }
  return sum;
}

bool is_plausible_power(std::int64_t power) { return power >= -kMostPower && power <= kMostPower; }

double number_field(const Json& object, std::string_view name) {
  const Json& value = field(object, name);
  return value.is_number() ? value.get<double>() : 0;
}

std::string why_there_is_none(const Json& status) {
  if (!sees_everything(status))
    return "--wall: only root and members of the group keplerd see the calibration";
  if (!field(status, "platform").is_object())
    return "--wall: no meter covers the whole host, with its power supply; keplerd-meters(7) describes how "
           "to add one";
  return "--wall: keplerd is still learning what the host draws at the plug: this takes some minutes of "
         "varying load";
}

std::string signed_power(std::int64_t power) {
  return (power < 0 ? "-" : "") + format_power({std::abs(power)});
}

}  // namespace

Result<Wall> Wall::of(const Json& status) {
  const Json& json = field(status, "wall");
  Wall wall;
  wall.slope_ = number_field(json, "slope");
  wall.offset_ = integer_field(json, "offsetMicrowatts").value_or(0);
  wall.error_percent_ = number_field(json, "errorPercent");
  wall.platform_ = integer_field(json, "powerMicrowatts");
  const bool is_plausible = wall.slope_ > 0 && wall.slope_ < kSteepest;
  if (!json.is_object() || !is_plausible) return Error{.message = why_there_is_none(status)};
  if (wall.platform_ && !is_plausible_power(*wall.platform_)) wall.platform_.reset();
  return wall;
}

std::optional<std::int64_t> Wall::power(const Json& row) const {
  const auto active = active_power(row);
  const auto graphics = active_graphics(row);
  if (!active || !graphics) return std::nullopt;
  return static_cast<std::int64_t>(std::floor(slope_ * static_cast<double>(*active + *graphics)));
}

std::optional<std::int64_t> Wall::energy(const Json& row) const {
  const auto active = integer_field(row, "activeMicrojoules");
  if (!active || *active < 0 || *active > kMostEnergy) return std::nullopt;
  const double energy = std::floor(slope_ * static_cast<double>(*active));
  if (energy > static_cast<double>(kMostEnergy)) return std::nullopt;
  return static_cast<std::int64_t>(energy);
}

void Wall::add_energy_to(Json& row) const {
  if (const auto joules = energy(row)) row[std::string(kWallEnergyField)] = *joules;
}

void Wall::add_to(Json& row) const {
  if (const auto watts = power(row)) row[std::string(kWallField)] = *watts;
}

std::optional<Wall::Sums> Wall::sums_of(std::int64_t rows) const {
  if (!platform_) return std::nullopt;
  return Sums{.rows = rows, .other = *platform_ - rows, .platform = *platform_};
}

void Wall::add_to(std::vector<Json>& rows) const {
  for (Json& row : rows) add_to(row);
}

void Wall::add_to_details(Json& row) const {
  add_to(row);
  row["wallQuality"] = kQuality;
}

std::optional<Wall::Sums> Wall::sums(const std::vector<Json>& rows, std::optional<client::Kind> kind) const {
  const std::int64_t sum = sum_without_nested(rows, kind, kWallField).value_or(0);
  return sum <= kMostPower ? sums_of(sum) : std::nullopt;
}

std::optional<Wall::Sums> Wall::host_sums(const Json& host) const {
  const auto active = power(host);
  return active ? sums_of(*active) : std::nullopt;
}

Json Wall::json(const std::optional<Sums>& sums) const {
  Json json = {{"quality", kQuality},
               {"slope", slope_},
               {"offsetMicrowatts", offset_},
               {"errorPercent", error_percent_}};
  json.update(sums_json(sums));
  return json;
}

Json Wall::sums_json(const std::optional<Sums>& sums) {
  Json json = {{"quality", kQuality}};
  if (!sums) return json;
  json["powerMicrowatts"] = sums->platform;
  json["rowsMicrowatts"] = sums->rows;
  json["otherMicrowatts"] = sums->other;
  return json;
}

std::string Wall::text(const std::optional<Sums>& sums, std::string_view what) {
  if (!sums) return "At the plug (modelled): not known in the last window.";
  return fmt::format("At the plug (modelled): {} {} + {} other = {}.", signed_power(sums->rows), what,
                     signed_power(sums->other), signed_power(sums->platform));
}

Result<std::optional<Wall>> wanted_wall(bool wanted, const Json& status) {
  if (!wanted) return std::optional<Wall>();
  auto wall = Wall::of(status);
  if (!wall) return wall.error();
  return std::optional<Wall>(*std::move(wall));
}

std::string wall_line_text(const Json& wall) {
  const std::int64_t offset =
      std::clamp(integer_field(wall, "offsetMicrowatts").value_or(0), -kMostPower, kMostPower);
  return fmt::format("{:.2f} x power {} {}, +-{:.1f} %, by {} observations", number_field(wall, "slope"),
                     offset < 0 ? "-" : "+", format_power({std::abs(offset)}),
                     number_field(wall, "errorPercent"), integer_field(wall, "samples").value_or(0));
}

}  // namespace keplerd::cli
