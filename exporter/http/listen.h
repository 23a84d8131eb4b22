// SPDX-License-Identifier: Apache-2.0
// Where the exporter listens: sockets that systemd passed, or one of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace keplerd::exporter::http {

struct Place {
  std::string host;  // empty: everywhere
  std::string port;  // a number
};

// "HOST:PORT", "[::1]:PORT", ":PORT".
Result<Place> parse_place(std::string_view text);

// Listening sockets at every address that the host has; an error where there is none that can be had.
Result<std::vector<UniqueFd>> listen_at(const Place& place);

// Those that systemd has passed; none where it has not. An error where one of them is something else.
Result<std::vector<UniqueFd>> take_passed_sockets();

}  // namespace keplerd::exporter::http
