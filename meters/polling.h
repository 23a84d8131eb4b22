// SPDX-License-Identifier: Apache-2.0
// What programs have in common that read meters which may fail for a while.
#pragma once

#include <functional>
#include <string>

#include "meters/poll.h"

namespace keplerd::meters {

// A directory that systemd names in the environment.
std::string directory_in(const char* variable, const char* otherwise);

// Publishes what `poll` reads, below `directory`, as often as it says.
[[noreturn]] void publish(const std::string& directory, const std::function<Poll()>& poll);

// main() of a program without options: the exit status.
int run_program(const std::string& name, int argc, const std::function<int()>& run);

}  // namespace keplerd::meters
