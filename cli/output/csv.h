// SPDX-License-Identifier: Apache-2.0
// Formats rows as comma-separated values (RFC 4180, with newlines alone), in the units of the fields' names.
// Unknown values are empty. A name that a spreadsheet would take for a formula is preceded by an apostrophe.
#pragma once

#include <string>
#include <string_view>

#include "varlink/json_fwd.h"

namespace keplerd::cli {

// `report` has the time and the host: a reply of GetStatus or Monitor.
std::string csv_host_header();
std::string csv_host_line(const varlink::Json& report);

// `wall`: the power at the plug, too (cli/wall.h).
std::string csv_rows_header(bool wall = false);
std::string csv_row_line(const varlink::Json& report, const varlink::Json& row, bool wall = false);

// One value; empty if there is no such field.
std::string csv_value(const varlink::Json& object, std::string_view name);

}  // namespace keplerd::cli
