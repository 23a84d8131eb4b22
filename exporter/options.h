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

// How many processes --serve=processes or --serve=all shows without --processes=. Each is some ten series,
// and a process that starts to be shown adds as many to Prometheus's index.
constexpr std::size_t kServedProcesses = 20;

struct Served {
  Kinds kinds;
  bool budgets = false;

  bool operator==(const Served&) const = default;
};

struct Options {
  std::string varlink = "/run/keplerd/org.keplerd.Energy";
  std::string listen = "127.0.0.1:28282";  // HOST:PORT; unused if systemd passes sockets
  std::string web_config;                  // a file; empty: neither TLS nor passwords
  std::string cost_config;                 // a file; empty: cost.conf
  std::size_t processes = 0;               // how many are shown individually
  std::string history = "/run/keplerd-history/org.keplerd.History";
  Served serve;  // shown to everyone, with exact values
};

// "host,vms": names of kinds, with "host" for the zones and the accounts, "budgets", or "all".
Result<Served> parse_served(std::string_view list);

// The options, or the exit status: of --help and --version after printing them, of a usage error after
// reporting it.
std::variant<Options, int> parse_options(int argc, char** argv);

}  // namespace keplerd::exporter
