// SPDX-License-Identifier: Apache-2.0
// What a host has answered, or why it has not. What another host sends is never trusted: it is bounded, and
// of its errors one line is shown, made safe for a terminal. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/fleet/processes.h"
#include "varlink/json.h"

namespace keplerd::cli::fleet {

struct Reply {
  std::string host;
  varlink::Json value;  // the object that the verb writes as JSON
  std::string problem;  // why there is none; empty: there is

  bool answered() const { return problem.empty(); }
};

// `verb`: what was asked for; `key`: the field that its JSON has, "virtualMachines".
Reply reply_of(const std::string& host, std::string_view verb, std::string_view key, const Ended& ended,
               const Limits& limits);

// The rows of a list, each with the field "host" in front.
std::vector<varlink::Json> rows_of(const Reply& reply, std::string_view key);

// Those that have not answered: [{"host","problem"}].
varlink::Json failures_json(const std::vector<Reply>& replies);

}  // namespace keplerd::cli::fleet
