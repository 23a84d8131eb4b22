// SPDX-License-Identifier: Apache-2.0
// Misbehaving clients, broken or malicious, and what they cannot do to the server.
#include <deque>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include "varlink/loop_server.h"

namespace keplerd::varlink {
namespace {

// Never ends; counts how often it was called.
class EndlessStream : public Stream {
 public:
  EndlessStream(std::size_t& asked, std::size_t size) : asked_(asked), text_(size, 'x') {}
  std::optional<std::variant<Reply, Failure>> next() override {
    ++asked_;
    return Reply{Json{{"number", asked_}, {"text", text_}}, true};
  }

 private:
  std::size_t& asked_;
  std::string text_;
};

// One reply, which takes many steps.
class SlowReply : public Stream {
 public:
  explicit SlowReply(std::size_t& asked) : asked_(asked) {}
  std::optional<std::variant<Reply, Failure>> next() override {
    if (++asked_ < kSteps) return std::nullopt;
    return Reply{Json{{"steps", asked_}}};
  }
  bool is_working() const override { return true; }

  static constexpr std::size_t kSteps = 100'000;

 private:
  std::size_t& asked_;
};

class Bounds : public LoopServer {
 protected:
  Bounds() {
    interface_.methods["Ping"] = [](const Call&) { return Reply{}; };
    interface_.methods["Large"] = [this](const Call&) {
      ++asked_;
      return Reply{Json{{"text", std::string(kReply, 'x')}}};
    };
    interface_.methods["Flood"] = [this](const Call&) -> Answer {
      return std::make_unique<EndlessStream>(asked_, flood_reply_);
    };
  }

  void add_slow_method() {
    interface_.methods["Slow"] = [this](const Call&) -> Answer {
      return Later{std::make_unique<SlowReply>(asked_)};
    };
  }

  static constexpr std::size_t kReply = 1000;
  std::size_t flood_reply_ = kReply;
  std::size_t asked_ = 0;
};

const std::string kPing = R"({"method":"org.example.Test.Ping"})";
const std::string kPong = R"({"parameters":{}})";
const std::string kFlood = R"({"method":"org.example.Test.Flood","more":true})";

// What the kernel buffers for a client that does not read: a socket's send buffer, with room to spare for its
// overhead.
constexpr std::size_t kKernelBuffer = 512 << 10;

TEST_F(Bounds, AMessageOverTheLimitClosesTheConnection) {
  start();
  RawClient client(path_);
  const std::string message(1 << 20, ' ');
  std::size_t written = 0;
  while (!client.ended()) {
    written += client.write(std::string_view(message).substr(written));
    settle();
    ASSERT_LT(written, message.size());
  }
  EXPECT_EQ(0U, server_->connection_count());
  EXPECT_EQ(kPong, ask(kPing));
}

TEST_F(Bounds, AMessageOfTheLimitIsTaken) {
  ServerLimits limits;
  limits.message = 1000;
  start(limits);
  EXPECT_EQ(kPong, ask(kPing + std::string(1000 - kPing.size(), ' ')));
  EXPECT_EQ("(closed)", ask(kPing + std::string(1001 - kPing.size(), ' ')));
}

TEST_F(Bounds, AStreamIsNotCalledForAClientThatDoesNotRead) {
  ServerLimits limits;
  limits.output = 10 * kReply;
  start(limits);
  RawClient client(path_);
  client.call(kFlood);
  settle();
  EXPECT_LT(asked_ * kReply, limits.output + kKernelBuffer);
  EXPECT_EQ(0, settle());  // and the loop is idle
  const std::size_t asked = asked_;
  EXPECT_EQ(kPong, ask(kPing));
  server_->wake();
  settle();
  EXPECT_EQ(asked, asked_);
}

TEST_F(Bounds, AStreamGoesOnAsItsClientReads) {
  ServerLimits limits;
  limits.output = 10 * kReply;
  start(limits);
  RawClient client(path_);
  client.call(kFlood);
  settle();
  const std::size_t asked = asked_;
  client.read();
  settle();
  EXPECT_GT(asked_, asked);
  EXPECT_LT(asked_ * kReply, client.received_bytes() + limits.output + kKernelBuffer);
}

TEST_F(Bounds, AnEndlessStreamLeavesTurnsToOthers) {
  start();
  RawClient greedy(path_);
  RawClient modest(path_);
  greedy.call(kFlood);
  modest.call(kPing);
  std::optional<std::string> answer;
  for (int turn = 0; turn < 20 && !answer; ++turn) {
    settle(1);
    greedy.read();  // always reads, so that its stream never has to pause
    answer = modest.message();
  }
  EXPECT_EQ(kPong, answer);
}

TEST_F(Bounds, AReplyThatTakesManyStepsIsOneReply) {
  add_slow_method();
  start();
  EXPECT_EQ(R"({"parameters":{"steps":100000}})", ask(R"({"method":"org.example.Test.Slow"})"));
}

TEST_F(Bounds, AReplyThatTakesManyStepsLeavesTurnsToOthers) {
  add_slow_method();
  start({}, [](const Peer&) { return Admission{.full = false}; });
  RawClient greedy(path_);
  RawClient modest(path_);
  greedy.call(R"({"method":"org.example.Test.Slow"})");
  modest.call(kPing);
  std::optional<std::string> answer;
  for (int turn = 0; turn < 20 && !answer; ++turn) {
    settle(1);
    answer = modest.message();
  }
  EXPECT_EQ(kPong, answer);
  ASSERT_LT(asked_, SlowReply::kSteps) << "the other one is answered first";
  greedy.close();
  settle();
  EXPECT_LT(asked_, SlowReply::kSteps) << "nobody waits for it any more";
}

TEST_F(Bounds, ASlowReaderGetsEveryReplyOnceAndInOrder) {
  flood_reply_ = 10'000;  // so that a turn produces more than a socket takes
  start();
  RawClient client(path_);
  client.call(kFlood);
  for (std::size_t number = 1; number <= 300; ++number) {
    auto message = client.message();
    if (!message) {  // has read everything, and the server has prepared as much as it may
      settle();
      message = client.message();
    }
    ASSERT_TRUE(message);
    const auto reply = parse_reply(*message);
    ASSERT_TRUE(reply.ok());
    ASSERT_EQ(number, reply->parameters["number"].get<std::size_t>());
  }
}

TEST_F(Bounds, AClientThatRefusesToReadIsClosed) {
  start();
  RawClient client(path_);
  client.refuse_output();
  client.call(kPing);
  settle();
  EXPECT_EQ(0U, server_->connection_count());
}

TEST_F(Bounds, ATurnIsShortHoweverMuchThereIsToSay) {
  start();
  RawClient client(path_);
  settle();
  client.call(kFlood);
  settle(2);  // it is read, and answered
  EXPECT_GT(asked_, 0U);
  EXPECT_LE(asked_, static_cast<std::size_t>(FairQueue::Limits{}.turn / kLook));
}

TEST_F(Bounds, CallsAreHeldForAClientThatDoesNotRead) {
  ServerLimits limits;
  limits.output = 10 * kReply;
  limits.message = 1000;
  start(limits);
  RawClient client(path_);
  const std::string call = std::string(R"({"method":"org.example.Test.Large"})") + '\0';
  std::size_t calls = 0;
  while (client.write(call) == call.size()) {  // until the server stops reading
    ++calls;
    settle();
    ASSERT_LT(calls, 1'000'000U);
  }
  EXPECT_LT(asked_, calls);
  EXPECT_LT(asked_ * kReply, limits.output + kKernelBuffer);
  EXPECT_EQ(0, settle());
  EXPECT_EQ(kPong, ask(kPing));
}

TEST_F(Bounds, InputIsNotReadBeyondOneMessageWhileAStreamRuns) {
  ServerLimits limits;
  limits.output = 10 * kReply;
  limits.message = 1000;
  start(limits);
  RawClient client(path_);
  client.call(kFlood);
  settle();
  const std::string call = kPing + '\0';
  std::size_t written = 0;
  while (client.write(call) == call.size()) {
    written += call.size();
    settle();
    ASSERT_LT(written, kKernelBuffer);
  }
  EXPECT_EQ(0, settle());
}

TEST_F(Bounds, ManyConnectionsAreServedAndOneTooManyIsClosed) {
  rlimit descriptors{};  // both ends of each connection are in this process
  ASSERT_EQ(0, ::getrlimit(RLIMIT_NOFILE, &descriptors));
  descriptors.rlim_cur = descriptors.rlim_max;
  ASSERT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &descriptors));
  ServerLimits limits;
  limits.connections = 500;
  start(limits);
  std::deque<RawClient> clients;
  for (int index = 0; index < 500; ++index) clients.emplace_back(path_);
  settle();
  EXPECT_EQ(500U, server_->connection_count());
  EXPECT_EQ("(closed)", ask(kPing));
  for (auto& client : clients) client.call(kPing);
  settle();
  for (auto& client : clients) ASSERT_EQ(kPong, client.message());
  clients.pop_front();
  settle();
  EXPECT_EQ(499U, server_->connection_count());
  EXPECT_EQ(kPong, ask(kPing));
}

TEST_F(Bounds, AnAccountHasNoMoreThanItsShareOfPlaces) {
  ServerLimits limits;
  limits.limited_account = 2;
  FairQueue::Account account = 1000;
  start(limits, [&](const Peer&) { return Admission{.full = false, .account = account}; });
  std::deque<RawClient> clients;
  for (int index = 0; index < 5; ++index) clients.emplace_back(path_);
  settle();
  EXPECT_EQ(2U, server_->connection_count());
  account = 1001;
  clients.emplace_back(path_);
  settle();
  EXPECT_EQ(3U, server_->connection_count());
}

TEST_F(Bounds, LimitedAccessLeavesPlacesForFullAccess) {
  bool full = false;
  ServerLimits limits;
  limits.connections = 5;
  limits.limited = 3;
  start(limits, [&full](const Peer&) { return Admission{.full = full}; });
  std::deque<RawClient> clients;
  for (int index = 0; index < 5; ++index) clients.emplace_back(path_);
  settle();
  EXPECT_EQ(3U, server_->connection_count());
  full = true;
  for (int index = 0; index < 5; ++index) clients.emplace_back(path_);
  settle();
  EXPECT_EQ(5U, server_->connection_count());
}

// Between two checks of callers with full access there is one turn of the queue, whatever the others request.
TEST_F(Bounds, FullAccessIsServedBetweenAnyTwoTurnsOfLimitedAccess) {
  bool full = false;
  start({}, [&full](const Peer&) { return Admission{.full = full, .account = 1000}; });
  std::deque<RawClient> others;
  for (int i = 0; i < 20; ++i) others.emplace_back(path_);
  settle();
  full = true;
  RawClient root(path_);
  settle();
  std::string calls;
  for (int i = 0; i < 500; ++i) calls += R"({"method":"org.example.Test.Large"})" + std::string(1, '\0');
  for (RawClient& other : others) ASSERT_EQ(calls.size(), other.write(calls));
  settle(25);  // all of it has been received
  const std::size_t before = asked_;
  ASSERT_LT(before, 20U * 500U / 2);
  root.call(kPing);
  std::optional<std::string> answer;
  for (int turn = 0; turn < 100 && !answer;
       ++turn) {  // the others' input is read in between, but not answered
    settle(1);
    answer = root.message();
  }
  EXPECT_EQ(kPong, answer);
  EXPECT_LE(asked_ - before, static_cast<std::size_t>(2 * FairQueue::Limits{}.turn / kLook));
}

// The peer is the effective user at the time of connect().
TEST_F(Bounds, AnotherUserIsCountedForItself) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root to become another user";
  ServerLimits limits;
  limits.limited_account = 2;
  start(limits, [](const Peer& peer) { return Admission{.full = peer.uid == 0, .account = peer.uid}; });
  ASSERT_EQ(0, ::chmod(path_.c_str(), 0666));
  ASSERT_EQ(0, ::chmod(std::filesystem::path(path_).parent_path().c_str(), 0755));
  std::deque<RawClient> clients;
  ASSERT_EQ(0, ::seteuid(65534));
  for (int index = 0; index < 5; ++index) clients.emplace_back(path_);
  ASSERT_EQ(0, ::seteuid(0));
  settle();
  EXPECT_EQ(2U, server_->connection_count());
  clients.clear();
  settle();
  EXPECT_EQ(0U, server_->connection_count());
  ASSERT_EQ(0, ::seteuid(65534));
  clients.emplace_back(path_);
  ASSERT_EQ(0, ::seteuid(0));
  settle();
  EXPECT_EQ(1U, server_->connection_count());
}

TEST_F(Bounds, TheLoopIsIdleWhileThereIsNoDescriptorForAConnection) {
  start();
  RawClient client(path_);
  rlimit before{};
  ASSERT_EQ(0, ::getrlimit(RLIMIT_NOFILE, &before));
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &none));
  const int turns = settle(1000);
  ASSERT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &before));
  EXPECT_LE(turns, 2);
  EXPECT_EQ(0U, server_->connection_count());
  client.call(kPing);
  for (int turn = 0; turn < 10 && server_->connection_count() == 0; ++turn) sd_event_run(event_, 1'000'000);
  settle();
  EXPECT_EQ(kPong, client.message());
}

}  // namespace
}  // namespace keplerd::varlink
