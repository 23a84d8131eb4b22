// SPDX-License-Identifier: Apache-2.0
// The exporter's listening sockets: passed by systemd, or its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace keplerd::exporter::http {

struct Place {
  std::string host;  // empty: all addresses
  std::string port;  // a number
};

// "HOST:PORT", "[::1]:PORT", ":PORT".
Result<Place> parse_place(std::string_view text);

// Listens at every address of the host; an error if none is available.
Result<std::vector<UniqueFd>> listen_at(const Place& place);

// The sockets passed by systemd, if any. An error if one of them is something else.
Result<std::vector<UniqueFd>> take_passed_sockets();

}  // namespace keplerd::exporter::http
