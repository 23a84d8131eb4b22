// SPDX-License-Identifier: Apache-2.0
// keplerctl's command line for CLI11: the options of each verb, and the checks of single values. What they
// mean together is decided in arguments.cpp.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "cli/options.h"
#include "cli/run/arguments.h"

namespace CLI {
class App;
}

namespace keplerd::cli {

// Where CLI11 stores its results, before they are turned into Options.
struct RawArguments {
  Options options;
  std::string json;
  std::string output;
  std::string help_for;
  std::vector<std::string> hosts;
  bool default_json = false;  // -j
  bool no_legend = false;
  bool no_pager = false;
  std::string interval;
  std::string duration, max_size;  // of record
  std::string calibrate_for;
  std::string cgroupfs;
  std::size_t limit = 0;
  std::size_t count = 0;
  run::RawOptions run;
};

// A parser of all verbs, which stores into `raw`; that must outlive it.
std::unique_ptr<CLI::App> make_parser(RawArguments& raw);

}  // namespace keplerd::cli
