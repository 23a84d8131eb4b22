// SPDX-License-Identifier: Apache-2.0
// A varlink server on a real socket in a directory of its own, and an event loop turned manually by the
// test; raw clients that send and receive bytes. Nothing waits for time to pass: a turn with nothing to do
// returns.
#pragma once

#include <array>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-event.h>

#include "event/fair_queue.h"
#include "event/priority.h"
#include "varlink/server.h"
#include "varlink/socket.h"

namespace keplerd::varlink {

// A directory that is removed after the test.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = testing::TempDir() + "keplerd-varlink-XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// A client at the level of bytes.
class RawClient {
 public:
  explicit RawClient(const std::string& path) {
    socket_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const auto address = unix_address(path);
    EXPECT_TRUE(address.ok());
    EXPECT_EQ(0, connect_to(socket_.get(), *address));
  }

  // How many of the bytes the socket accepted.
  std::size_t write(std::string_view bytes) {
    const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    return count > 0 ? static_cast<std::size_t>(count) : 0;
  }

  void call(std::string_view message) {
    std::string bytes(message);
    bytes.push_back('\0');
    EXPECT_EQ(bytes.size(), write(bytes));
  }

  void end_input() { ::shutdown(socket_.get(), SHUT_WR); }
  void refuse_output() { ::shutdown(socket_.get(), SHUT_RD); }
  void close() { socket_.reset(); }

  // Reads what has arrived.
  void read() {
    std::array<char, 65536> chunk;
    while (!ended_) {
      const ssize_t count = ::recv(socket_.get(), chunk.data(), chunk.size(), 0);
      if (count > 0) {
        received_.append(chunk.data(), static_cast<std::size_t>(count));
      } else if (count == 0 || errno == ECONNRESET) {
        ended_ = true;
      } else {
        return;
      }
    }
  }

  // The next complete message received.
  std::optional<std::string> message() {
    read();
    const auto end = received_.find('\0');
    if (end == std::string::npos) return std::nullopt;
    std::string text = received_.substr(0, end);
    received_.erase(0, end + 1);
    return text;
  }

  // The server has closed the connection.
  bool ended() {
    read();
    return ended_;
  }

  std::size_t received_bytes() const { return received_.size(); }

 private:
  UniqueFd socket_;
  std::string received_;
  bool ended_ = false;
};

class LoopServer : public testing::Test {
 protected:
  // Must be called first by tests that need other limits.
  void start(
      ServerLimits limits = {}, Server::Admit admit = [](const Peer&) { return Admission{}; }) {
    ASSERT_TRUE(full_.attach(event_, priority::kNormal).ok());
    ASSERT_TRUE(limited_.attach(event_, priority::kLimitedAccess).ok());
    server_.emplace(event_, Queues{full_, limited_},
                    ServiceInfo{"The keplerd project", "keplerd", "1.2.3", "https://example.org/"}, limits,
                    std::move(admit));
    server_->add(std::move(interface_));
    auto socket = bind_unix_socket(path_, 0600);
    ASSERT_TRUE(socket.ok()) << socket.error().message;
    ASSERT_TRUE(server_->listen(std::move(*socket)).ok());
  }

  void SetUp() override { ASSERT_LE(0, sd_event_new(&event_)); }
  void TearDown() override {
    server_.reset();
    for (auto* const queue : {&full_, &limited_}) queue->detach();
    sd_event_unref(event_);
  }

  // Turns the loop until it is idle; returns the number of turns, at most `most`.
  int settle(int most = 100'000) {
    int turns = 0;
    while (turns < most && sd_event_run(event_, 0) > 0) ++turns;
    return turns;
  }

  // The server's reply to this message.
  std::string ask(std::string_view message) {
    RawClient client(path_);
    client.call(message);
    settle();
    return client.message().value_or(client.ended() ? "(closed)" : "(nothing)");
  }

  // Each reading of the clock takes this long, and so does each reply.
  static constexpr Nanoseconds kLook = std::chrono::microseconds(20);
  Nanoseconds now_ = std::chrono::hours(1);
  FairQueue full_{{}, [this] { return now_ += kLook; }};
  FairQueue limited_{{}, [this] { return now_ += kLook; }};
  TemporaryDirectory directory_;
  std::string path_ = directory_ / "socket";
  sd_event* event_ = nullptr;
  Interface interface_{"org.example.Test", "interface org.example.Test\n", {}};
  std::optional<Server> server_;
};

}  // namespace keplerd::varlink
