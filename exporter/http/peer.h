// SPDX-License-Identifier: Apache-2.0
// Who is at the other end of a connection, as far as limits go: what one client cannot change at will.
#pragma once

#include <optional>
#include <string>

#include <sys/socket.h>
#include <sys/types.h>

namespace keplerd::exporter::http {

// "192.0.2.1"; "2001:db8:0:1::/64", since a host has that many IPv6 addresses; "user 1000" of a Unix socket.
// All others are "unknown" together.
using Peer = std::string;

// `user` is that of a Unix socket's other end.
Peer peer_of(const sockaddr_storage& address, std::optional<uid_t> user);

Peer read_peer(int socket);

}  // namespace keplerd::exporter::http
