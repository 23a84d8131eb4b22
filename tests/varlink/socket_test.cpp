// SPDX-License-Identifier: Apache-2.0
#include "varlink/socket.h"

#include <fstream>

#include <sys/stat.h>

#include "varlink/loop_server.h"

namespace keplerd::varlink {
namespace {

mode_t mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(0, ::stat(path.c_str(), &status));
  return status.st_mode & 07777;
}

bool answers(const std::string& path) {
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return connect_to(socket.get(), *unix_address(path)) == 0;
}

TEST(ListeningSocket, HasTheModeWhateverTheUmask) {
  const TemporaryDirectory directory;
  for (const mode_t mask : {0, 022, 077}) {
    const mode_t before = ::umask(mask);
    const auto path = directory / std::to_string(mask);
    const auto socket = bind_unix_socket(path, 0660);
    ::umask(before);
    ASSERT_TRUE(socket.ok()) << socket.error().message;
    EXPECT_EQ(0660U, mode_of(path));
    EXPECT_TRUE(answers(path));
  }
}

TEST(ListeningSocket, ReplacesAStaleOne) {
  const TemporaryDirectory directory;
  const auto path = directory / "socket";
  ASSERT_TRUE(bind_unix_socket(path, 0600).ok());  // closed at once; the file stays
  ASSERT_FALSE(answers(path));
  const auto socket = bind_unix_socket(path, 0600);
  ASSERT_TRUE(socket.ok()) << socket.error().message;
  EXPECT_TRUE(answers(path));
}

TEST(ListeningSocket, LeavesOneThatLives) {
  const TemporaryDirectory directory;
  const auto path = directory / "socket";
  const auto first = bind_unix_socket(path, 0600);
  ASSERT_TRUE(first.ok());
  const auto second = bind_unix_socket(path, 0600);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(path + ": another program listens there", second.error().message);
  EXPECT_TRUE(answers(path));
}

TEST(ListeningSocket, LeavesAFileThatIsNotASocket) {
  const TemporaryDirectory directory;
  const auto path = directory / "file";
  std::ofstream(path) << "precious";
  const auto socket = bind_unix_socket(path, 0600);
  ASSERT_FALSE(socket.ok());
  EXPECT_EQ(path + ": exists and is not a socket", socket.error().message);
  EXPECT_TRUE(std::filesystem::is_regular_file(path));
}

TEST(ListeningSocket, ReportsAMissingDirectory) {
  const auto socket = bind_unix_socket("/nonexistent/socket", 0600);
  ASSERT_FALSE(socket.ok());
  EXPECT_EQ("/nonexistent/socket: No such file or directory", socket.error().message);
}

TEST(SocketPath, FitsOrIsRefused) {
  EXPECT_TRUE(unix_address(std::string(107, 'a')).ok());
  const std::string too_long(108, 'a');
  const auto address = unix_address(too_long);
  ASSERT_FALSE(address.ok());
  EXPECT_EQ(too_long + ": too long for the path of a socket (at most 107 bytes)", address.error().message);
  EXPECT_FALSE(bind_unix_socket(too_long, 0600).ok());
  EXPECT_FALSE(unix_address("").ok());
  EXPECT_FALSE(unix_address(std::string("a\0b", 3)).ok());
}

}  // namespace
}  // namespace keplerd::varlink
