// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/peer.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace keplerd::exporter::http {
namespace {

Peer peer_of(int family, const char* text) {
  sockaddr_storage address{};
  address.ss_family = static_cast<sa_family_t>(family);
  void* const to = family == AF_INET
                       ? static_cast<void*>(&reinterpret_cast<sockaddr_in&>(address).sin_addr)
                       : static_cast<void*>(&reinterpret_cast<sockaddr_in6&>(address).sin6_addr);
  EXPECT_EQ(::inet_pton(family, text, to), 1) << text;
  return http::peer_of(address, std::nullopt);
}

TEST(PeerOf, AnIpv4AddressIsItselfMappedOrNot) {
  EXPECT_EQ(peer_of(AF_INET, "192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(peer_of(AF_INET6, "::ffff:192.0.2.1"), "192.0.2.1");
}

TEST(PeerOf, AnIpv6AddressIsItsNetworkOf64Bits) {
  EXPECT_EQ(peer_of(AF_INET6, "2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(peer_of(AF_INET6, "2001:db8:1:2::1"), "2001:db8:1:2::/64");
  EXPECT_EQ(peer_of(AF_INET6, "2001:db8:1:3::1"), "2001:db8:1:3::/64");
  EXPECT_EQ(peer_of(AF_INET6, "::1"), "::/64");
}

TEST(PeerOf, AUnixSocketIsOfItsUserAndAllElseIsOne) {
  sockaddr_storage address{};
  address.ss_family = AF_UNIX;
  EXPECT_EQ(http::peer_of(address, 1000), "user 1000");
  EXPECT_EQ(http::peer_of(address, std::nullopt), "unknown");
  address.ss_family = AF_VSOCK;
  EXPECT_EQ(http::peer_of(address, 1000), "unknown");
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  EXPECT_EQ(read_peer(pair[0]), "user " + std::to_string(::getuid()));
  ::close(pair[0]);
  ::close(pair[1]);
  EXPECT_EQ(read_peer(-1), "unknown");
}

}  // namespace
}  // namespace keplerd::exporter::http
