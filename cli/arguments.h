// SPDX-License-Identifier: Apache-2.0
// Parses the command line.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "cli/options.h"
#include "cli/verb.h"

namespace keplerd::cli {

struct Command {
  const Verb* verb = nullptr;
  Options options;
};

// Nothing to run: help or the version was requested (`usage_error` unset), or the arguments are invalid.
struct Answer {
  std::string text;
  bool usage_error = false;
};

// `arguments`: without the program's name. `on_terminal` decides what -j means.
std::variant<Command, Answer> parse_arguments(const std::vector<std::string>& arguments, bool on_terminal);

// Every option and verb that the parser accepts ("--json", "-j", "units"): the manual page must list them.
std::vector<std::string> known_words();

}  // namespace keplerd::cli
