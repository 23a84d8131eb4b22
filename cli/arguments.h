// SPDX-License-Identifier: Apache-2.0
// The command line.
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

// Nothing to run: help or the version was asked for (`usage_error` unset), or what is wrong.
struct Answer {
  std::string text;
  bool usage_error = false;
};

// `arguments`: without the program's name. `on_terminal` decides what -j means.
std::variant<Command, Answer> parse_arguments(const std::vector<std::string>& arguments, bool on_terminal);

// Every option and verb that the parser knows ("--json", "-j", "units"): what the manual page must tell.
std::vector<std::string> known_words();

}  // namespace keplerd::cli
