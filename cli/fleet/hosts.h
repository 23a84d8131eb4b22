// SPDX-License-Identifier: Apache-2.0
// The hosts of --host, as systemctl has them: HOST, USER@HOST, HOST:PORT. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace keplerd::cli::fleet {

struct Host {
  std::string name;         // as given: how it is shown
  std::string destination;  // for ssh: without the port, and without the brackets of an IPv6 address
  std::string port;         // empty: the default

  bool operator==(const Host&) const = default;
};

inline constexpr std::size_t kMostHosts = 1000;

// Fails for a name that ssh or its configuration might take for something else, such as an option, and if
// there are more than kMostHosts.
Result<Host> parse_host(const std::string& text);
// Each host once, in the order given.
Result<std::vector<Host>> parse_hosts(const std::vector<std::string>& texts);

}  // namespace keplerd::cli::fleet
