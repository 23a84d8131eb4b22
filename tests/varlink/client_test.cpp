// SPDX-License-Identifier: Apache-2.0
#include "varlink/client.h"

#include <limits>
#include <thread>

#include <sys/stat.h>
#include <unistd.h>

#include "varlink/loop_server.h"

namespace keplerd::varlink {
namespace {

using namespace std::string_literals;
using std::chrono::milliseconds;

// A daemon played by the test.
class Asking : public testing::Test {
 protected:
  void SetUp() override {
    auto socket = bind_unix_socket(path_, 0600);
    ASSERT_TRUE(socket.ok()) << socket.error().message;
    listener_ = std::move(*socket);
    auto client = Client::connect("unix:" + path_);
    ASSERT_TRUE(client.ok()) << client.error().message;
    client_.emplace(std::move(*client));
    daemon_.reset(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  }

  void say(std::string_view bytes) {
    ASSERT_EQ(static_cast<ssize_t>(bytes.size()),
              ::send(daemon_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
  }

  std::string heard() {
    std::string bytes(4096, '\0');
    const ssize_t count = ::recv(daemon_.get(), bytes.data(), bytes.size(), 0);
    bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return bytes;
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_ / "socket";
  UniqueFd listener_;
  UniqueFd daemon_;
  std::optional<Client> client_;
};

TEST_F(Asking, SendsTheCall) {
  ASSERT_TRUE(client_->send("a.B", Json{{"x", 1}}, true).ok());
  EXPECT_EQ(R"({"method":"a.B","parameters":{"x":1},"more":true})"s + '\0', heard());
  ASSERT_TRUE(client_->send("a.B", nullptr).ok());
  EXPECT_EQ(R"({"method":"a.B","parameters":{}})"s + '\0', heard());
}

TEST_F(Asking, SendsACallThatFitsNoSocketBuffer) {
  const std::string text(4 << 20, 'x');
  std::size_t size = 0;
  std::thread daemon([this, &size] {
    for (pollfd poll{daemon_.get(), POLLIN, 0}; ::poll(&poll, 1, -1) == 1;) {
      const auto bytes = heard();
      size += bytes.size();
      if (bytes.empty() || bytes.back() == '\0') return;
    }
  });
  const auto sent = client_->send("a.B", Json{{"x", text}});
  ::shutdown(client_->fd(), SHUT_WR);
  daemon.join();
  EXPECT_TRUE(sent.ok());
  EXPECT_EQ(std::string_view(R"({"method":"a.B","parameters":{"x":""}})").size() + text.size() + 1, size);
}

TEST_F(Asking, TakesRepliesOneByOne) {
  say(R"({"parameters":{"n":1},"continues":true})"s + '\0' + R"({"error":"a.E","parameters":{"x":"y"}})" +
      '\0');
  EXPECT_FALSE(client_->has_reply());
  const auto first = client_->receive(milliseconds(0));
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(1, first->parameters["n"]);
  EXPECT_TRUE(first->continues);
  EXPECT_EQ("", first->error);
  EXPECT_TRUE(client_->has_reply());
  const auto second = client_->receive(milliseconds(0));
  ASSERT_TRUE(second.ok());
  EXPECT_EQ("a.E", second->error);
  EXPECT_EQ("y", second->parameters["x"]);
  EXPECT_FALSE(client_->has_reply());
}

TEST_F(Asking, PutsAReplyTogetherAndGoesOnAfterATimeout) {
  say(R"({"parameters":{)");
  const auto early = client_->receive(milliseconds(1));
  ASSERT_FALSE(early.ok());
  EXPECT_EQ(ETIMEDOUT, early.error().code);
  EXPECT_EQ("the daemon did not answer in time", early.error().message);
  say(R"("n":7}})"s + '\0');
  const auto reply = client_->receive();
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(7, reply->parameters["n"]);
}

TEST_F(Asking, TakesTheLastReplyBeforeTheEnd) {
  say(R"({"parameters":{}})"s + '\0' + "{\"par");
  daemon_.reset();
  EXPECT_TRUE(client_->receive().ok());
  const auto end = client_->receive(std::nullopt);
  ASSERT_FALSE(end.ok());
  EXPECT_EQ("the daemon closed the connection", end.error().message);
  EXPECT_EQ(ECONNRESET, end.error().code);
}

TEST_F(Asking, SaysThatTheDaemonIsGoneWhenSending) {
  daemon_.reset();
  const auto sent = client_->send("a.B", nullptr);
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ("the daemon closed the connection", sent.error().message);
  EXPECT_FALSE(client_->call("a.B", nullptr).ok());
}

TEST_F(Asking, RefusesInvalidReplies) {
  say("garbage\0"s);
  const auto reply = client_->receive();
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ("a message is not JSON", reply.error().message);
}

TEST_F(Asking, RefusesAReplyWithoutEnd) {
  const std::string spaces(1 << 16, ' ');
  std::size_t said = 0;
  Result<ClientReply> reply = Error{"", ETIMEDOUT};
  while (!reply.ok() && reply.error().code == ETIMEDOUT) {
    const ssize_t count = ::send(daemon_.get(), spaces.data(), spaces.size(), MSG_NOSIGNAL);
    if (count > 0) said += static_cast<std::size_t>(count);
    ASSERT_LT(said, 18U << 20);
    reply = client_->receive(milliseconds(0));
  }
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ("the daemon's reply is too long", reply.error().message);
}

TEST_F(Asking, KeepsIntegersExact) {
  for (const std::int64_t number : {(std::int64_t{1} << 53) + 1, std::numeric_limits<std::int64_t>::max(),
                                    std::numeric_limits<std::int64_t>::min()}) {
    ASSERT_TRUE(client_->send("a.B", Json{{"x", number}}).ok());
    EXPECT_EQ(R"({"method":"a.B","parameters":{"x":)" + std::to_string(number) + "}}" + '\0', heard());
    say(R"({"parameters":{"x":)" + std::to_string(number) + "}}" + '\0');
    const auto reply = client_->receive();
    ASSERT_TRUE(reply.ok());
    EXPECT_EQ(number, reply->parameters["x"].get<std::int64_t>());
  }
}

TEST(Connecting, SaysWhatAnAdministratorNeeds) {
  const TemporaryDirectory directory;
  const auto path = directory / "socket";
  const auto missing = Client::connect(path);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(path + ": no such socket; is keplerd running?", missing.error().message);
  EXPECT_EQ(ENOENT, missing.error().code);

  ASSERT_TRUE(bind_unix_socket(path, 0600).ok());
  const auto refused = Client::connect("unix:" + path);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(path + ": connection refused; is keplerd running?", refused.error().message);
  EXPECT_EQ(ECONNREFUSED, refused.error().code);

  EXPECT_FALSE(Client::connect("").ok());
  EXPECT_FALSE(Client::connect(std::string(200, 'a')).ok());
}

TEST(Connecting, FailsAtOnceIfAsked) {
  const TemporaryDirectory directory;
  const auto path = directory / "socket";
  const auto listener = bind_unix_socket(path, 0600);
  ASSERT_TRUE(listener.ok());
  ASSERT_EQ(0, ::listen(listener->get(), 0));  // room for one that is not accepted
  const auto first = Client::connect(path, Client::IfBusy::kFail);
  ASSERT_TRUE(first.ok());
  const auto second = Client::connect(path, Client::IfBusy::kFail);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(path + ": keplerd does not accept connections; is it hanging?", second.error().message);
  EXPECT_EQ(EAGAIN, second.error().code);
}

TEST(Connecting, NamesThePermittedUsersOnDenial) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root to become another user";
  const TemporaryDirectory directory;
  const auto path = directory / "socket";
  const auto socket = bind_unix_socket(path, 0600);
  ASSERT_TRUE(socket.ok());
  ASSERT_EQ(0, ::chmod(std::filesystem::path(path).parent_path().c_str(), 0755));
  ASSERT_EQ(0, ::seteuid(65534));
  const auto client = Client::connect(path);
  ASSERT_EQ(0, ::seteuid(0));
  ASSERT_FALSE(client.ok());
  EXPECT_EQ(path + ": not permitted; run as root or be in group keplerd", client.error().message);
}

class AskingTheServer : public LoopServer {};

TEST_F(AskingTheServer, IsAnswered) {
  start();
  auto client = Client::connect(path_);
  ASSERT_TRUE(client.ok());
  ASSERT_TRUE(client->send("org.varlink.service.GetInfo", nullptr).ok());
  settle();
  const auto reply = client->receive(milliseconds(0));
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ("keplerd", reply->parameters["product"]);
}

}  // namespace
}  // namespace keplerd::varlink
