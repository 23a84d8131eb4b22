// SPDX-License-Identifier: Apache-2.0
// Declares the options of `keplerctl run`, and splits its command line.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/run/options.h"

namespace CLI {
class App;
}

namespace keplerd::cli::run {

// Where the parser stores what is not in RunOptions as it was written.
struct RawOptions {
  RunOptions options;
  std::string delay, max_energy, attached_for;
};

void declare_options(CLI::App& app, RawOptions& raw);

// The parsed options; `command` as cut_command() has returned it.
RunOptions finish_options(const RawOptions& raw, std::vector<std::string> command);

// What is wrong with the combination; empty: nothing.
std::string usage_problem(const RunOptions& options);

// Takes the command from the end of `words`, which begin with the verb: what follows "--", or the first word
// that is neither an option nor the value of one.
std::vector<std::string> cut_command(std::vector<std::string>& words,
                                     const std::function<bool(std::string_view option)>& takes_value);

}  // namespace keplerd::cli::run
