// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/listen.h"

#include <cerrno>
#include <cstdint>
#include <memory>

#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include "base/parse.h"

namespace keplerd::exporter::http {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Result<UniqueFd> listen_on(const addrinfo& address, const std::string& shown) {
  UniqueFd socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return system_error(shown, errno);
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // With an empty host, both "::" and "0.0.0.0" are bound.
  if (address.ai_family == AF_INET6) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (::bind(socket.get(), address.ai_addr, address.ai_addrlen) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0) {
    return system_error(shown, errno);
  }
  return socket;
}

}  // namespace

Result<Place> parse_place(std::string_view text) {
  const std::string shown(text);
  Place place;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == text.npos) return Error{shown + ": no ']'"};
    place.host = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    if (!text.starts_with(':')) return Error{shown + ": expected HOST:PORT"};
  } else {
    const auto colon = text.find(':');
    if (colon == text.npos) return Error{shown + ": expected HOST:PORT"};
    if (text.find(':', colon + 1) != text.npos) return Error{shown + ": an IPv6 address needs [ ]"};
    place.host = text.substr(0, colon);
    text.remove_prefix(colon);
  }
  place.port = text.substr(1);
  if (!parse_number<std::uint16_t>(place.port)) return Error{shown + ": no such port"};
  return place;
}

Result<std::vector<UniqueFd>> listen_at(const Place& place) {
  const std::string shown = (place.host.empty() ? "*" : place.host) + ":" + place.port;
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int code =
      ::getaddrinfo(place.host.empty() ? nullptr : place.host.c_str(), place.port.c_str(), &hints, &found);
  if (code != 0) return Error{shown + ": " + ::gai_strerror(code)};
  const Addresses addresses(found, &::freeaddrinfo);

  std::vector<UniqueFd> sockets;
  Error last{shown + ": no address"};
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    auto socket = listen_on(*address, shown);
    if (!socket) {
      last = socket.error();
      // A host without IPv6 still has its other addresses; an address in use is an error.
      if (last.code == EADDRINUSE || last.code == EACCES) return last;
      continue;
    }
    sockets.push_back(*std::move(socket));
  }
  if (sockets.empty()) return last;
  return sockets;
}

Result<std::vector<UniqueFd>> take_passed_sockets() {
  std::vector<UniqueFd> sockets;
  const int passed = sd_listen_fds(1);
  for (int i = 0; i < passed; ++i) {
    const int fd = SD_LISTEN_FDS_START + i;
    if (sd_is_socket(fd, AF_UNSPEC, SOCK_STREAM, 1) <= 0) {
      return Error{"the socket passed by systemd is not a listening stream socket"};
    }
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    sockets.emplace_back(fd);
  }
  return sockets;
}

}  // namespace keplerd::exporter::http
