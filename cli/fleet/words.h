// SPDX-License-Identifier: Apache-2.0
// Texts about several hosts. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/fleet/replies.h"
#include "cli/wall.h"
#include "varlink/json.h"

namespace keplerd::cli::fleet {

// "3 hosts"; "2 of 3 hosts" if one has not answered.
std::string hosts_text(const std::vector<Reply>& replies);

// "web1, web2, web3 and 4 more".
std::string names_text(const std::vector<std::string>& names);

// The warnings of source_warning() for these hosts, each with the hosts that it concerns: "SIMULATED (web1):
// no meter is read, the numbers are invented". `sources`: the name of a host, and an object with its
// "source".
std::vector<std::string> source_notes(const std::vector<std::pair<std::string, varlink::Json>>& sources);

// The notes, a line each, with their labels in colour.
std::string notes_text(const std::vector<std::string>& notes, bool colour);

// What all hosts that have answered draw at the plug; unset if that is not known of one of them.
using SumsOf = std::function<std::optional<Wall::Sums>(const Wall& wall, const Reply& reply)>;
std::optional<Wall::Sums> wall_sums(const std::vector<Reply>& replies, const SumsOf& sums_of);
std::string wall_text(const std::vector<Reply>& replies, std::string_view what, const SumsOf& sums_of);

}  // namespace keplerd::cli::fleet
