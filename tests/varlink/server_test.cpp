// SPDX-License-Identifier: Apache-2.0
#include "varlink/server.h"

#include <deque>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include <unistd.h>

#include "varlink/loop_server.h"

namespace keplerd::varlink {
namespace {

// What a stream returns, and what became of it.
struct Script {
  std::deque<std::variant<Reply, Failure>> replies;
  int asked = 0;
  bool destroyed = false;
  std::function<void()> when_asked;
};

class ScriptedStream : public Stream {
 public:
  explicit ScriptedStream(std::shared_ptr<Script> script) : script_(std::move(script)) {}
  ~ScriptedStream() override { script_->destroyed = true; }
  std::optional<std::variant<Reply, Failure>> next() override {
    ++script_->asked;
    if (script_->when_asked) script_->when_asked();
    if (script_->replies.empty()) return std::nullopt;
    auto reply = std::move(script_->replies.front());
    script_->replies.pop_front();
    return reply;
  }

 private:
  std::shared_ptr<Script> script_;
};

class Serving : public LoopServer {
 protected:
  Serving() {
    interface_.methods["Echo"] = [this](const Call& call) {
      calls_.push_back(call);
      return Reply{call.parameters};
    };
    interface_.methods["Watch"] = [this](const Call&) -> Answer {
      return std::make_unique<ScriptedStream>(script_);
    };
    interface_.methods["Throw"] = [](const Call&) -> Answer { throw std::runtime_error("a handler failed"); };
    interface_.methods["Fail"] = [](const Call&) {
      return Failure{"org.example.Test.Broken", Json{{"x", 1}}};
    };
  }

  static std::variant<Reply, Failure> number(int value, bool continues) {
    return Reply{Json{{"n", value}}, continues};
  }

  std::vector<Call> calls_;
  std::shared_ptr<Script> script_ = std::make_shared<Script>();
};

const std::string kEcho = R"({"method":"org.example.Test.Echo"})";
const std::string kEchoed = R"({"parameters":{}})";
const std::string kWatch = R"({"method":"org.example.Test.Watch","more":true})";

TEST_F(Serving, GivesTheHandlerTheCallAndThePeer) {
  start();
  EXPECT_EQ(R"({"parameters":{"x":[1,"a",null]}})",
            ask(R"({"method":"org.example.Test.Echo","parameters":{"x":[1,"a",null]},"more":true})"));
  ASSERT_EQ(1U, calls_.size());
  EXPECT_EQ("Echo", calls_[0].method);
  EXPECT_TRUE(calls_[0].more);
  EXPECT_EQ(::getpid(), calls_[0].peer.pid);
  EXPECT_EQ(::getuid(), calls_[0].peer.uid);
  const std::vector<gid_t>& groups = calls_[0].peer.groups;
  ASSERT_FALSE(groups.empty());
  EXPECT_EQ(::getgid(), groups.front());
  std::vector<gid_t> others(static_cast<std::size_t>(::getgroups(0, nullptr)));
  ASSERT_GE(::getgroups(static_cast<int>(others.size()), others.data()), 0);
  EXPECT_EQ(others, std::vector<gid_t>(groups.begin() + 1, groups.end()));
}

TEST_F(Serving, GivesErrorsOfTheInterface) {
  start();
  EXPECT_EQ(R"({"error":"org.example.Test.Broken","parameters":{"x":1}})",
            ask(R"({"method":"org.example.Test.Fail"})"));
}

TEST_F(Serving, OneReplyDoesNotPromiseAnother) {
  interface_.methods["Promise"] = [](const Call&) { return Reply{{}, true}; };
  start();
  EXPECT_EQ(kEchoed, ask(R"({"method":"org.example.Test.Promise","more":true})"));
}

TEST_F(Serving, KeepsIntegersExactBothWays) {
  start();
  for (const std::int64_t number : {(std::int64_t{1} << 53) + 1, std::numeric_limits<std::int64_t>::max(),
                                    std::numeric_limits<std::int64_t>::min()}) {
    const std::string parameters = R"("parameters":{"x":)" + std::to_string(number) + "}}";
    EXPECT_EQ("{" + parameters, ask(R"({"method":"org.example.Test.Echo",)" + parameters));
    EXPECT_EQ(number, calls_.back().parameters["x"].get<std::int64_t>());
  }
}

TEST_F(Serving, TakesACallByteByByte) {
  start();
  RawClient client(path_);
  for (const char byte : kEcho) {
    ASSERT_EQ(1U, client.write({&byte, 1}));
    settle();
    ASSERT_FALSE(client.message());
  }
  client.write({"\0", 1});
  settle();
  EXPECT_EQ(kEchoed, client.message());
}

TEST_F(Serving, AnswersPipelinedCallsInTheirOrder) {
  start();
  RawClient client(path_);
  std::string bytes;
  for (int index = 0; index < 300; ++index) {
    bytes += R"({"method":"org.example.Test.Echo","parameters":{"n":)" + std::to_string(index) + "}}" + '\0';
  }
  ASSERT_EQ(bytes.size(), client.write(bytes));
  settle();
  for (int index = 0; index < 300; ++index) {
    ASSERT_EQ(R"({"parameters":{"n":)" + std::to_string(index) + "}}", client.message());
  }
  EXPECT_FALSE(client.message());
}

TEST_F(Serving, SaysNothingToAOnewayCall) {
  start();
  RawClient client(path_);
  client.call(R"({"method":"org.example.Test.Echo","parameters":{"n":1},"oneway":true})");
  client.call(R"({"method":"org.example.Test.Fail","oneway":true})");
  client.call(R"({"method":"org.example.Test.Nothing","oneway":true})");
  client.call(R"({"method":"org.example.Test.Watch","oneway":true})");
  client.call(kEcho);
  settle();
  EXPECT_EQ(kEchoed, client.message());
  EXPECT_FALSE(client.message());
  EXPECT_EQ(2U, calls_.size());
  EXPECT_TRUE(script_->destroyed);
  EXPECT_EQ(0, script_->asked);
}

TEST_F(Serving, HearsAOnewayCallOfAClientThatLeftAtOnce) {
  start();
  RawClient client(path_);
  client.call(R"({"method":"org.example.Test.Echo","parameters":{"n":1}})");
  client.call(R"({"method":"org.example.Test.Echo","parameters":{"n":2},"oneway":true})");
  client.close();
  settle();
  ASSERT_EQ(1U, calls_.size());
  EXPECT_EQ(R"({"n":2})", calls_[0].parameters.dump());
  EXPECT_EQ(0U, server_->connection_count());
}

TEST_F(Serving, AnswersAClientThatHasEndedItsInput) {
  start();
  RawClient client(path_);
  client.call(kEcho);
  client.end_input();
  settle();
  EXPECT_EQ(kEchoed, client.message());
  EXPECT_TRUE(client.ended());
  EXPECT_EQ(0U, server_->connection_count());
}

TEST_F(Serving, GoesOnStreamingToAClientThatHasEndedItsInput) {
  start();
  RawClient client(path_);
  client.call(kWatch);
  client.end_input();
  settle();
  script_->replies = {number(1, true), number(2, false)};
  server_->wake();
  settle();
  EXPECT_EQ(R"({"parameters":{"n":1},"continues":true})", client.message());
  EXPECT_EQ(R"({"parameters":{"n":2}})", client.message());
  EXPECT_TRUE(client.ended());
}

TEST_F(Serving, ClosesOnAnythingButACall) {
  start();
  for (const std::string& bytes :
       {std::string("x"), std::string(), std::string("{\"method\":\"\xff\"}"), std::string(60'000, '['),
        std::string(R"({"method":7})"), std::string(R"({"method":"org.example.Test.Throw"})")}) {
    EXPECT_EQ("(closed)", ask(bytes));
  }
  EXPECT_EQ(0U, server_->connection_count());
  EXPECT_EQ(kEchoed, ask(kEcho));
}

TEST_F(Serving, DeliversWhatWasAnsweredBeforeTheEnd) {
  start();
  RawClient client(path_);
  client.write(kEcho + '\0' + "garbage" + '\0' + kEcho + '\0');
  settle();
  EXPECT_EQ(kEchoed, client.message());
  EXPECT_FALSE(client.message());
  EXPECT_TRUE(client.ended());
}

TEST_F(Serving, StreamsUntilTheReplyThatDoesNotContinue) {
  start();
  script_->replies = {number(1, true), number(2, true), number(3, false), number(4, true)};
  RawClient client(path_);
  client.call(kWatch);
  settle();
  EXPECT_EQ(R"({"parameters":{"n":1},"continues":true})", client.message());
  EXPECT_EQ(R"({"parameters":{"n":2},"continues":true})", client.message());
  EXPECT_EQ(R"({"parameters":{"n":3}})", client.message());
  EXPECT_FALSE(client.message());
  EXPECT_TRUE(script_->destroyed);
  EXPECT_EQ(3, script_->asked);
}

TEST_F(Serving, AFailureEndsAStream) {
  start();
  script_->replies = {number(1, true), Failure{"org.example.Test.Broken", {}}, number(2, true)};
  RawClient client(path_);
  client.call(kWatch);
  settle();
  EXPECT_EQ(R"({"parameters":{"n":1},"continues":true})", client.message());
  EXPECT_EQ(R"({"error":"org.example.Test.Broken","parameters":{}})", client.message());
  EXPECT_FALSE(client.message());
  EXPECT_TRUE(script_->destroyed);
  client.call(kEcho);
  settle();
  EXPECT_EQ(kEchoed, client.message());
}

TEST_F(Serving, StreamsOnlyToACallThatSaidMore) {
  start();
  EXPECT_EQ(R"({"error":"org.varlink.service.ExpectedMore","parameters":{}})",
            ask(R"({"method":"org.example.Test.Watch"})"));
  EXPECT_TRUE(script_->destroyed);
  EXPECT_EQ(0, script_->asked);
}

TEST_F(Serving, HoldsPipelinedCallsWhileAStreamRuns) {
  start();
  RawClient client(path_);
  client.call(kWatch);
  client.call(kEcho);
  settle();
  EXPECT_FALSE(client.message());
  EXPECT_TRUE(calls_.empty());
  script_->replies = {number(1, false)};
  server_->wake();
  settle();
  EXPECT_EQ(R"({"parameters":{"n":1}})", client.message());
  EXPECT_EQ(kEchoed, client.message());
}

TEST_F(Serving, CallsAStreamAgainOnlyWhenWoken) {
  start();
  RawClient client(path_);
  client.call(kWatch);
  settle();
  EXPECT_EQ(1, script_->asked);
  EXPECT_EQ(0, settle());  // no turn of the loop is spent on it
  server_->wake();
  EXPECT_EQ(1, script_->asked);  // not from within wake()
  settle();
  EXPECT_EQ(2, script_->asked);
  server_->wake();
  server_->wake();
  settle();
  EXPECT_EQ(3, script_->asked);
  EXPECT_EQ(0, settle());
}

TEST_F(Serving, MayBeWokenFromWithinAStream) {
  start();
  RawClient first(path_);
  RawClient second(path_);
  first.call(kWatch);
  settle();
  EXPECT_EQ(1, script_->asked);
  script_->when_asked = [this] {  // as when opening a stream triggers a sample, which wakes all streams
    script_->when_asked = nullptr;
    script_->replies = {number(1, true), number(2, true)};
    server_->wake();
  };
  second.call(kWatch);
  settle();
  EXPECT_EQ(R"({"parameters":{"n":1},"continues":true})", second.message());
  EXPECT_EQ(R"({"parameters":{"n":2},"continues":true})", second.message());
  EXPECT_EQ(1 + 3 + 1, script_->asked);  // the first one again
  EXPECT_EQ(0, settle());
}

TEST_F(Serving, AnEmptyStreamThatWakesAllIsNotCalledAgainAtOnce) {
  start();
  script_->when_asked = [this] { server_->wake(); };
  RawClient client(path_);
  client.call(kWatch);
  EXPECT_LT(settle(100), 100);
  EXPECT_EQ(1, script_->asked);
}

TEST_F(Serving, EndsTheStreamOfAClientThatLeaves) {
  start();
  RawClient client(path_);
  client.call(kWatch);
  settle();
  ASSERT_FALSE(script_->destroyed);
  client.close();
  settle();
  EXPECT_TRUE(script_->destroyed);
  EXPECT_EQ(0U, server_->connection_count());
  EXPECT_EQ(1, script_->asked);
}

TEST_F(Serving, AStreamThatThrowsCostsItsClientTheConnection) {
  start();
  script_->replies = {number(1, true)};
  RawClient client(path_);
  client.call(kWatch);
  settle();
  script_->when_asked = [] { throw std::runtime_error("a stream failed"); };
  server_->wake();
  settle();
  EXPECT_TRUE(client.message());
  EXPECT_TRUE(client.ended());
  EXPECT_TRUE(script_->destroyed);
}

TEST_F(Serving, EndsWithStreamsAndClientsStillThere) {
  start();
  RawClient client(path_);
  client.call(kWatch);
  settle();
  server_.reset();
  EXPECT_TRUE(script_->destroyed);
  EXPECT_TRUE(client.ended());
}

TEST_F(Serving, ListensOnNothingButAListeningUnixSocket) {
  start();
  EXPECT_FALSE(server_->listen(UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0))).ok());
  EXPECT_FALSE(server_->listen(UniqueFd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0))).ok());
  EXPECT_FALSE(server_->listen(UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC))).ok());
  EXPECT_FALSE(server_->listen(UniqueFd()).ok());
  EXPECT_EQ(kEchoed, ask(kEcho));
}

}  // namespace
}  // namespace keplerd::varlink
