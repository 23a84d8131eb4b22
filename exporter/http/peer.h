// SPDX-License-Identifier: Apache-2.0
// Identifies a client for the purpose of limits, by what it cannot change at will.
#pragma once

#include <optional>
#include <string>

#include <sys/socket.h>
#include <sys/types.h>

namespace keplerd::exporter::http {

// "192.0.2.1"; "2001:db8:0:1::/64", since a host has that many IPv6 addresses; "user 1000" for a Unix socket.
// All others share "unknown".
using Peer = std::string;

// `user`: of a Unix socket's other end.
Peer peer_of(const sockaddr_storage& address, std::optional<uid_t> user);

Peer read_peer(int socket);

}  // namespace keplerd::exporter::http
