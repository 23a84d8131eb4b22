// SPDX-License-Identifier: Apache-2.0
// Requests that wait, over real connections on one loop.
#include "exporter/http/server.h"

#include <string>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "exporter/http/listen.h"

namespace keplerd::exporter::http {
namespace {

class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) socket_.reset();
  }
  void ask(const std::string& path) {
    const std::string text = "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n";
    ASSERT_EQ(::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL), std::ssize(text));
  }
  // What has arrived so far.
  const std::string& received() {
    char block[4096];
    while (true) {
      const ssize_t count = ::recv(socket_.get(), block, sizeof block, MSG_DONTWAIT);
      if (count <= 0) return text_;
      text_.append(block, static_cast<std::size_t>(count));
    }
  }
  bool has_answer() { return received().ends_with("answer"); }
  void close() { socket_.reset(); }

 private:
  UniqueFd socket_;
  std::string text_;
};

class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    sd_event_new(&loop);
    server.emplace(loop, [this](const Request& request) -> std::optional<Response> {
      ++handled;
      if (request.path == "/slow" && !current) return {};
      return text_response(200, request.path.substr(1) + " answer");
    });
    auto sockets = listen_at(*parse_place("127.0.0.1:0"));
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ::getsockname(sockets->front().get(), reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
    EXPECT_TRUE(server->listen(std::move(sockets->front())).ok());
  }
  ~ServerTest() override {
    server.reset();
    sd_event_unref(loop);
  }
  template <class Condition>
  void run_until(Condition condition) {
    for (int turn = 0; !condition() && turn < 1000; ++turn) ASSERT_GE(sd_event_run(loop, 10'000), 0);
    ASSERT_TRUE(condition());
  }

  sd_event* loop = nullptr;
  std::optional<Server> server;
  std::uint16_t port = 0;
  bool current = false;
  int handled = 0;
};

TEST_F(ServerTest, ARequestThatWaitsHoldsUpNoOther) {
  Client slow(port), fast(port);
  slow.ask("/slow");
  run_until([this] { return handled == 1; });
  for (int i = 0; i < 3; ++i) {
    Client another(port);
    another.ask("/fast");
    run_until([&] { return another.has_answer(); });
  }
  fast.ask("/fast");
  run_until([&] { return fast.has_answer(); });
  EXPECT_EQ(slow.received(), "");
  EXPECT_EQ(handled, 5) << "it is not repeated meanwhile";
}

TEST_F(ServerTest, AllThatWaitAreAnsweredTogetherAndTheirConnectionsKept) {
  Client one(port), two(port);
  one.ask("/slow");
  two.ask("/slow");
  run_until([this] { return handled == 2; });
  server->answer_waiting();
  for (int i = 0; i < 5; ++i) sd_event_run(loop, 0);
  EXPECT_EQ(handled, 4) << "asked again, and waiting again";
  EXPECT_EQ(one.received() + two.received(), "");
  current = true;
  server->answer_waiting();
  run_until([&] { return one.has_answer() && two.has_answer(); });
  const std::string first = one.received();
  one.ask("/slow");
  run_until([&] { return one.received().size() == 2 * first.size(); });
}

TEST_F(ServerTest, AClientThatDisconnectsWhileItWaitsIsForgotten) {
  Client gone(port), other(port);
  gone.ask("/slow");
  other.ask("/slow");
  run_until([this] { return handled == 2; });
  gone.close();
  current = true;
  server->answer_waiting();
  run_until([&] { return other.has_answer(); });
}

TEST_F(ServerTest, CanEndWhileARequestWaits) {
  Client slow(port);
  slow.ask("/slow");
  run_until([this] { return handled == 1; });
  server.reset();
  EXPECT_EQ(slow.received(), "");
}

TEST_F(ServerTest, OfOneAddressTheOldestThatWaitsGivesWayToANewcomer) {
  std::vector<Client> waiting;
  for (int i = 0; i < 64; ++i) {
    waiting.emplace_back(port).ask("/slow");
    run_until([&] { return handled == i + 1; });
  }
  Client newcomer(port);
  newcomer.ask("/fast");
  run_until([&] { return newcomer.has_answer(); });
  current = true;
  server->answer_waiting();
  run_until([&] { return waiting.back().has_answer(); });
  for (int i = 0; i < 5; ++i) sd_event_run(loop, 0);
  EXPECT_EQ(waiting.front().received(), "");
  EXPECT_TRUE(waiting[1].has_answer());
}

}  // namespace
}  // namespace keplerd::exporter::http
