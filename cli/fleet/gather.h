// SPDX-License-Identifier: Apache-2.0
// Asks all hosts of --host at once.
#pragma once

#include <string>
#include <vector>

#include "cli/fleet/replies.h"
#include "cli/options.h"

namespace keplerd::cli::fleet {

struct Question {
  std::string verb;
  std::vector<std::string> arguments;  // of the verb
  std::string key;                     // the field that its JSON has
};

// The replies in the order of the hosts. Takes as long as the slowest host, but not longer than the limits.
std::vector<Reply> gather(const Options& options, const Question& question, const Limits& limits = {});

}  // namespace keplerd::cli::fleet
