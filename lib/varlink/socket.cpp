// SPDX-License-Identifier: Apache-2.0
#include "varlink/socket.h"

#include <cerrno>
#include <cstring>

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "varlink/server.h"

namespace keplerd::varlink {

namespace {

int bind_to(int socket, const sockaddr_un& address) {
  return ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
}

// Removes the socket at `path` if nobody listens on it.
Result<Done> remove_stale_socket(const std::string& path, const sockaddr_un& address) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return Done{};
    return system_error(path, errno);
  }
  if (!S_ISSOCK(status.st_mode)) return Error{path + ": exists and is not a socket", EEXIST};
  const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe) return system_error("socket", errno);
  const int code = connect_to(probe.get(), address);
  // EAGAIN: a listener with a full backlog; EPROTOTYPE: one of another type.
  if (code == 0 || code == EAGAIN || code == EPROTOTYPE) {
    return Error{path + ": another program listens there", EADDRINUSE};
  }
  if (code != ECONNREFUSED && code != ENOENT) return system_error(path, code);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return system_error(path, errno);
  return Done{};
}

}  // namespace

Result<sockaddr_un> unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty()) return Error{"the path of a socket is empty", EINVAL};
  if (path.find('\0') != std::string::npos) return Error{"the path of a socket has a NUL in it", EINVAL};
  if (path.size() >= sizeof address.sun_path) {
    return Error{path + ": too long for the path of a socket (at most " +
                     std::to_string(sizeof address.sun_path - 1) + " bytes)",
                 ENAMETOOLONG};
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

int connect_to(int socket, const sockaddr_un& address) {
  while (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

Result<UniqueFd> bind_unix_socket(const std::string& path, mode_t mode) {
  const auto address = unix_address(path);
  if (!address) return address.error();
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return system_error("socket", errno);
  // The kernel gives the new file the mode of the socket minus the umask, so it is never wider than
  // requested; the chmod below makes it exact before the first connection is possible.
  if (::fchmod(socket.get(), mode) != 0) return system_error(path, errno);
  int code = bind_to(socket.get(), *address);
  if (code == EADDRINUSE) {
    if (const auto removed = remove_stale_socket(path, *address); !removed) return removed.error();
    code = bind_to(socket.get(), *address);
  }
  if (code != 0) return system_error(path, code);
  if (::chmod(path.c_str(), mode) != 0) return system_error(path, errno);
  if (::listen(socket.get(), SOMAXCONN) != 0) return system_error(path, errno);
  return socket;
}

}  // namespace keplerd::varlink
