// SPDX-License-Identifier: Apache-2.0
// keplerd-exporter's command line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "client/kinds.h"

namespace keplerd::exporter {

using client::Kinds;

struct Options {
  std::string varlink = "/run/keplerd/org.keplerd.Energy";
  std::string listen = "127.0.0.1:28282";  // HOST:PORT; not used where systemd passes sockets
  std::string web_config;                  // a file; empty: neither TLS nor passwords
  std::size_t processes = 0;               // how many are shown one by one
  Kinds serve;                             // told to everybody, exactly
};

// "host,vms": names of kinds, with "host" for the zones and the accounts, or "all".
Result<Kinds> parse_kinds(std::string_view list);

// The options, or the status to exit with: of --help and --version after printing them, of a usage error
// after telling it.
std::variant<Options, int> parse_options(int argc, char** argv);

}  // namespace keplerd::exporter
