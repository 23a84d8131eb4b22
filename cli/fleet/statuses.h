// SPDX-License-Identifier: Apache-2.0
// The status of several hosts. Pure.
#pragma once

#include <string>
#include <vector>

#include "cli/fleet/replies.h"
#include "cli/output/table.h"
#include "varlink/json_fwd.h"

namespace keplerd::cli::fleet {

// Hosts whose numbers are not measured.
std::vector<std::string> status_notes(const std::vector<Reply>& replies);

// A line for each host, and one total. `wall`: with the power at the plug.
std::string status_screen(const std::vector<Reply>& replies, bool wall, const TableStyle& style);

// {"hosts":[{"host","status"}],"failures":[...]}
varlink::Json statuses_json(const std::vector<Reply>& replies);

}  // namespace keplerd::cli::fleet
