// SPDX-License-Identifier: Apache-2.0
// Addresses of AF_UNIX sockets. (bind_unix_socket(), implemented in socket.cpp, is declared in server.h.)
#pragma once

#include <string>

#include <sys/un.h>

#include "base/result.h"

namespace keplerd::varlink {

// The address of a socket at `path`; fails if the path is empty or does not fit (at most 107 bytes).
Result<sockaddr_un> unix_address(const std::string& path);

// connect(), repeated if a signal interrupts it. Returns 0, or the errno.
int connect_to(int socket, const sockaddr_un& address);

}  // namespace keplerd::varlink
