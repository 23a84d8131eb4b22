// SPDX-License-Identifier: Apache-2.0
// History and reports, for people and for programs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/history/request.h"
#include "cli/output/table.h"
#include "cli/wall.h"
#include "varlink/json_fwd.h"

namespace keplerd::cli::history {

// One object per span and row, without spans in which nothing is recorded; of the host a row of its own.
// `wall`: set if the energy at the plug is shown.
varlink::Json history_json(const Subject& subject, const std::vector<varlink::Json>& replies,
                           const Wall* wall = nullptr);
std::string history_csv(const varlink::Json& history);
// A table, or the power as a graph.
std::string history_text(const Subject& subject, const std::vector<varlink::Json>& replies, bool graph,
                         const TableStyle& style, const Wall* wall = nullptr);

// Adds the energy at the plug to the rows of a reply, and their sum as "wall".
void add_wall(varlink::Json& report, const Wall& wall);

// The reply, with the currency in each row.
varlink::Json report_json(varlink::Json report);
std::string report_csv(const varlink::Json& report);
std::string report_text(const varlink::Json& report, const std::string& by, const TableStyle& style);

// One line of these fields per object, after one of their names.
std::string csv_lines(const varlink::Json& objects, std::span<const std::string_view> names);

}  // namespace keplerd::cli::history
