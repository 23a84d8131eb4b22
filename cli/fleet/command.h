// SPDX-License-Identifier: Apache-2.0
// The command that shows a verb's result of another host: `ssh ... HOST keplerctl --json=short VERB ...`.
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/fleet/hosts.h"

namespace keplerd::cli::fleet {

// `word` as a shell takes it for this very word: ssh passes its arguments to the shell of the user there.
std::string quoted_for_shell(std::string_view word);

// `words`: what runs on the host, not quoted yet.
std::vector<std::string> ssh_command(const std::string& ssh, const Host& host,
                                     const std::vector<std::string>& words);

}  // namespace keplerd::cli::fleet
