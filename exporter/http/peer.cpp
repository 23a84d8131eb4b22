// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/peer.h"

#include <array>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace keplerd::exporter::http {
namespace {

constexpr char kUnknown[] = "unknown";

std::string text_of(int family, const void* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  return ::inet_ntop(family, address, text.data(), text.size()) == nullptr ? kUnknown : text.data();
}

std::string text_of(in6_addr address) {
  constexpr std::size_t kMappedFrom = 12;
  constexpr std::size_t kNetworkBytes = 8;
  if (IN6_IS_ADDR_V4MAPPED(&address)) return text_of(AF_INET, &address.s6_addr[kMappedFrom]);
  std::memset(&address.s6_addr[kNetworkBytes], 0, sizeof address.s6_addr - kNetworkBytes);
  return text_of(AF_INET6, &address) + "/64";
}

}  // namespace

Peer peer_of(const sockaddr_storage& address, std::optional<uid_t> user) {
  switch (address.ss_family) {
    case AF_INET:
      return text_of(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr);
    case AF_INET6:
      return text_of(reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
    case AF_UNIX:
      return user ? "user " + std::to_string(*user) : kUnknown;
    default:
      return kUnknown;
  }
}

Peer read_peer(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return kUnknown;
  std::optional<uid_t> user;
  ucred credentials{};
  size = sizeof credentials;
  if (address.ss_family == AF_UNIX &&
      ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0) {
    user = credentials.uid;
  }
  return peer_of(address, user);
}

}  // namespace keplerd::exporter::http
