// SPDX-License-Identifier: Apache-2.0
// Makes rows of applications from rows of units. Pure.
//
// For each user: a row for each application, the exact sum of its scopes and services, and one for what else
// is in the user's slice, so that the rows add up to the slice.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/apps/desktop_files.h"
#include "cli/columns.h"
#include "varlink/json.h"

namespace keplerd::cli::apps {

struct Sources {
  // The id and the name of the application of a unit (DesktopFiles::find()).
  std::function<DesktopFiles::App(const std::vector<std::string>& ids, std::uint32_t user)> find;
  // The name of a user; unset: rows do not show whose they are.
  std::function<std::string(std::uint32_t user)> user_name = {};
  // The energy of units today, by their id, where it is recorded.
  std::optional<std::map<std::string, std::int64_t>> today = {};
};

// `units`: all units, with the cgroups in them.
std::vector<varlink::Json> app_rows(const std::vector<varlink::Json>& units, const Sources& sources);

const std::vector<RowColumn>& app_columns();

}  // namespace keplerd::cli::apps
