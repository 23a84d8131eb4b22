// SPDX-License-Identifier: Apache-2.0
// Which rows a screen shows, and in which order. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/fields.h"
#include "varlink/json.h"

namespace keplerd::cli {

// client::sort_rows(), where rows of the same power are ordered by energy.
void sort_rows(std::vector<Json>& rows, std::string_view key);

inline constexpr std::string_view kGraphicsField = "gpuMicrowatts";

// Of a row with energy of graphics cards, the power of its parts of zones with the name "gpu", which count
// whole cards. It is not part of `powerMicrowatts`. Unset for other rows.
std::optional<std::int64_t> graphics_power(const Json& row);
// Adds it as kGraphicsField.
void add_graphics(Json& row);
void add_graphics(std::vector<Json>& rows);

// The types that --type accepts: those of systemd.unit(5) that have a cgroup, and "cgroup".
const std::vector<std::string>& unit_types();
// "service" for ssh.service; "cgroup" for one that is not a unit.
std::string unit_type(const Json& row);
bool has_type(const Json& row, const std::vector<std::string>& types);

// What `units` shows by default: services, scopes and other units, but no slices; and of the cgroups that are
// no units, those outside services and scopes (of LXC, for example).
bool is_listed_unit(const Json& row);

// A row and the lines in front of its name that connect it to its parent: "├─", "│ └─".
struct TreeRow {
  Json row;
  std::string lead;
};
// Each row below its `parent`, and otherwise in the order of `rows`; a row whose parent is absent is a root.
std::vector<TreeRow> tree_of(const std::vector<Json>& rows, bool unicode);

// The `most` rows of the highest power that do not include each other, for a summary: services, scopes and
// other cgroups, with virtual machines and containers in place of their units. Rows without power are left
// out.
std::vector<Json> largest_consumers(const std::vector<Json>& units, const std::vector<Json>& guests,
                                    std::size_t most);

}  // namespace keplerd::cli
