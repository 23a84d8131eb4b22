// SPDX-License-Identifier: Apache-2.0
// keplerctl without its main().
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "cli/output/terminal.h"

namespace keplerd::cli {

// Runs one command line (without the program's name); returns the exit status. `terminal` describes
// `out`.
int run_program(const std::vector<std::string>& arguments, const Terminal& terminal, std::ostream& out,
                std::ostream& err);

}  // namespace keplerd::cli
