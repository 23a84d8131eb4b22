// SPDX-License-Identifier: Apache-2.0
// keplerd-history's command line.
#pragma once

#include <chrono>
#include <string>
#include <variant>

namespace keplerd::history {

struct Options {
  std::string varlink = "/run/keplerd/org.keplerd.Energy";
  std::string state_directory = "/var/lib/keplerd-history";
  std::string runtime_directory = "/run/keplerd-history";
  std::string bus = "system";  // "none", or an address
  std::string copy;            // copy the database to this file, and do nothing else; empty: serve
  std::string config;          // a file; empty: history.conf and its drop-ins
  std::string cost_config;     // a file; empty: cost.conf and its drop-ins
  std::chrono::seconds interval = std::chrono::minutes(1);  // between two readings
};

// The options, or the exit status: of --help and --version after printing them, of a usage error after
// reporting it.
std::variant<Options, int> parse_options(int argc, char** argv);

}  // namespace keplerd::history
