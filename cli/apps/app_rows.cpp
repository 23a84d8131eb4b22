// SPDX-License-Identifier: Apache-2.0
#include "cli/apps/app_rows.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/parse.h"
#include "cli/apps/app_unit.h"
#include "cli/fields.h"
#include "cli/wall.h"

namespace keplerd::cli::apps {
namespace {

using varlink::Json;

constexpr std::array<const char*, 7> kAmounts = {"energyMicrojoules", "activeMicrojoules", "idleMicrojoules",
                                                 "powerMicrowatts",   "cpuUsec",           "todayMicrojoules",
                                                 "wallMicrowatts"};

struct Place {
  std::uint32_t user = 0;
  std::string_view slice;   // "/user.slice/user-1000.slice"
  std::string_view inside;  // of the user's manager: "app.slice/app-x.scope"; empty for the slice itself
};

// Where the cgroup `path` is below a user's slice. Root makes the slices; below the manager, everything is
// what the user wants it to be. Cgroups of containers with such names are elsewhere.
std::optional<Place> place_of(std::string_view path) {
  std::string_view rest = path;
  if (!take_prefix(rest, "/user.slice/user-")) return std::nullopt;
  const std::string_view number = rest.substr(0, rest.find('.'));
  const auto user = parse_number<std::uint32_t>(number);
  rest.remove_prefix(number.size());
  if (!user || !take_prefix(rest, ".slice")) return std::nullopt;
  Place place{*user, path.substr(0, path.size() - rest.size()), {}};
  const std::string manager = "/user@" + std::string(number) + ".service/";
  if (take_prefix(rest, manager)) place.inside = rest;
  return place;
}

// The topmost cgroup of `inside` that is an application's: others in it are parts of it, whatever their
// names.
std::vector<std::string> ids_if_topmost(std::string_view inside) {
  while (!inside.empty()) {
    auto ids = app_ids(take_until(inside, '/'));
    if (!ids.empty()) return inside.empty() ? ids : std::vector<std::string>();
  }
  return {};
}

struct User {
  Json slice;  // null: not shown to the caller
  std::map<std::string, Json> apps;
};

void add_amounts(Json& row, const Json& unit) {
  for (const char* const name : kAmounts) {
    const auto amount = integer_field(unit, name);
    std::int64_t sum = 0;
    if (amount && !__builtin_add_overflow(integer_field(row, name).value_or(0), *amount, &sum))
      row[name] = sum;
  }
}

Json new_row(const Sources& sources, std::uint32_t user, const std::string& id, const std::string& name,
             const char* kind) {
  Json row = {{"id", id}, {"name", name}, {"kind", kind}, {"state", "terminated"}, {"ownerUid", user}};
  if (sources.user_name) row["user"] = sources.user_name(user);
  return row;
}

void add_unit(Json& row, const Json& unit) {
  add_amounts(row, unit);
  if (const auto quality = string_field(unit, "quality")) row["quality"] = *quality;
  if (string_field(unit, "state") != "running") return;
  row["state"] = "running";
  row["instances"] = integer_field(row, "instances").value_or(0) + 1;
}

// What is in the slice, but in no application.
Json other_row(const Sources& sources, std::uint32_t user, const User& known) {
  Json row = new_row(sources, user, "user-" + std::to_string(user), "other", "other");
  Json apps = Json::object();
  for (const auto& [id, app] : known.apps) add_amounts(apps, app);
  row["state"] = name_text(known.slice, "state");
  if (const auto quality = string_field(known.slice, "quality")) row["quality"] = *quality;
  for (const char* const name : kAmounts) {
    const auto whole = integer_field(known.slice, name);
    // Powers are rounded down one by one.
    if (whole) row[name] = std::max<std::int64_t>(*whole - integer_field(apps, name).value_or(0), 0);
  }
  return row;
}

RowColumn text_column(std::string header, std::string_view name, int leaves) {
  RowColumn column{
      {.header = std::move(header), .align = Align::kLeft, .gives_way = Keep::kStart, .leaves = leaves},
      [name](const Json& row, const Json&) { return name_text(row, name); }};
  column.where_any_has = name;
  return column;
}

RowColumn amount_column(std::string header, Quantity quantity, std::string_view name, int leaves) {
  RowColumn column{{.header = std::move(header), .leaves = leaves}, {}};
  column.amount = Amount{quantity, name};
  return column;
}

}  // namespace

std::vector<Json> app_rows(const std::vector<Json>& units, const Sources& sources) {
  std::map<std::uint32_t, User> users;
  for (const Json& row : units) {
    const std::string path = string_field(row, "id").value_or("");
    const auto place = place_of(path);
    if (!place) continue;
    const bool is_slice = path == place->slice;
    const auto ids = is_slice ? std::vector<std::string>() : ids_if_topmost(place->inside);
    if (!is_slice && ids.empty()) continue;
    Json unit = row;
    if (sources.today) {
      const auto found = sources.today->find(path);
      unit["todayMicrojoules"] = found == sources.today->end() ? 0 : found->second;
    }
    User& user = users[place->user];
    if (is_slice) {
      user.slice = std::move(unit);
      continue;
    }
    const DesktopFiles::App app = sources.find(ids, place->user);
    const std::string id = "user-" + std::to_string(place->user) + "/" + app.id;
    auto known = user.apps.find(id);
    if (known == user.apps.end())
      known = user.apps.emplace(id, new_row(sources, place->user, id, app.name, "app")).first;
    add_unit(known->second, unit);
  }
  std::vector<Json> rows;
  for (auto& [id, user] : users) {
    if (user.slice.is_object()) rows.push_back(other_row(sources, id, user));
    for (auto& [app_id, app] : user.apps) rows.push_back(std::move(app));
  }
  return rows;
}

const std::vector<RowColumn>& app_columns() {
  static const std::vector<RowColumn> kColumns = [] {
    RowColumn wall = amount_column("WALL", Quantity::kPower, kWallField, 0);
    wall.where_any_has = kWallField;
    RowColumn today = amount_column("TODAY", Quantity::kEnergy, "todayMicrojoules", 1);
    today.where_any_has = "todayMicrojoules";
    RowColumn instances = {{.header = "RUNNING", .leaves = 4}, [](const Json& row, const Json&) {
                             const auto count = integer_field(row, "instances");
                             return count ? std::to_string(*count) : "-";
                           }};
    RowColumn state = text_column("STATE", "state", 5);
    state.with_ended = true;
    return std::vector<RowColumn>{amount_column("POWER", Quantity::kPower, "powerMicrowatts", 0),
                                  std::move(wall),
                                  amount_column("ENERGY", Quantity::kEnergy, "energyMicrojoules", 2),
                                  std::move(today),
                                  amount_column("CPU", Quantity::kTime, "cpuUsec", 3),
                                  std::move(instances),
                                  std::move(state),
                                  text_column("USER", "user", 0),
                                  text_column("NAME", "name", 0)};
  }();
  return kColumns;
}

}  // namespace keplerd::cli::apps
