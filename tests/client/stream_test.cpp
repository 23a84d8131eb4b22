// SPDX-License-Identifier: Apache-2.0
// Against a server on the same loop.
#include "client/stream.h"

#include <filesystem>
#include <stdexcept>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/open_server.h"

namespace keplerd::client {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using varlink::Answer;
using varlink::Call;
using varlink::Failure;
using varlink::Json;
using varlink::Reply;

// One reply, then silence; or an end.
class OneReply : public varlink::Stream {
 public:
  explicit OneReply(std::variant<Reply, Failure> reply) : reply_(std::move(reply)) {}
  std::optional<std::variant<Reply, Failure>> next() override { return std::exchange(reply_, std::nullopt); }

 private:
  std::optional<std::variant<Reply, Failure>> reply_;
};

class StreamsTest : public testing::Test {
 protected:
  StreamsTest() {
    directory = std::filesystem::temp_directory_path() / ("keplerd-streams-" + std::to_string(::getpid()));
    std::filesystem::create_directory(directory);
    path = directory / "socket";
    sd_event_new(&loop);
  }
  ~StreamsTest() override {
    streams.reset();
    server.reset();
    sd_event_unref(loop);
    std::filesystem::remove_all(directory);
  }

  void serve() {
    server.emplace(loop);
    (*server)->add({.name = "org.keplerd.Energy",
                    .description = "interface org.keplerd.Energy",
                    .methods = {{"Monitor", [this](const Call& call) -> Answer {
                                   calls.push_back(call.parameters.dump());
                                   return std::make_unique<OneReply>(answer(call.parameters));
                                 }}}});
    EXPECT_TRUE((*server)->listen(*varlink::bind_unix_socket(path, 0600)).ok());
  }
  void begin(std::vector<Streams::Plan::Wanted> wanted) {
    streams = std::make_unique<Streams>(
        loop, Streams::Plan{path, std::move(wanted), std::chrono::seconds(5), "the test"},
        Streams::Events{.reply =
                            [this](Kind kind, const Json&) {
                              reported.emplace_back(name_of(kind));
                              if (std::exchange(throws, false)) throw std::runtime_error("no memory");
                            },
                        .lost = [this](Kind kind) { lost.emplace_back(name_of(kind)); },
                        .changed =
                            [this](bool up, const std::string& reason) {
                              changes.push_back(up ? "up" : "down: " + reason);
                            }});
    EXPECT_TRUE(streams->start().ok());
  }
  template <class Condition>
  void run_until(Condition condition) {
    for (int turn = 0; !condition() && turn < 100'000; ++turn) ASSERT_GE(sd_event_run(loop, 100'000), 0);
  }
  static Json reply_in_full() { return {{"accounts", {{"idle", 1}}}, {"rows", Json::array()}}; }
  // As keplerd does it.
  static std::variant<Reply, Failure> as_keplerd(const Json& parameters) {
    Json reply = reply_in_full();
    if (parameters.contains("public")) reply.erase("accounts");
    return Reply{std::move(reply), true};
  }

  std::filesystem::path directory;
  std::string path;
  sd_event* loop = nullptr;
  std::optional<OpenServer> server;
  std::unique_ptr<Streams> streams;
  std::function<std::variant<Reply, Failure>(const Json&)> answer = as_keplerd;
  std::vector<std::string> calls, reported, lost, changes;
  bool throws = false;  // at the next reply
};

const std::vector<Streams::Plan::Wanted> kZonesAndUnits = {{Kind::kZones, false}, {Kind::kUnits, false}};

TEST_F(StreamsTest, RequestsKindsNotInFullAsAnUnprivilegedCaller) {
  serve();
  begin({{Kind::kZones, false}, {Kind::kUnits, true}});
  run_until([this] { return streams->is_up(); });
  EXPECT_THAT(calls, ElementsAre(R"({"kind":"zones","intervalUsec":5000000,"public":true})",
                                 R"({"kind":"units","intervalUsec":5000000})"));
  EXPECT_THAT(reported, ElementsAre("zones", "units"));
  EXPECT_THAT(changes, ElementsAre("up"));
}

TEST_F(StreamsTest, AKeplerdThatDoesNotKnowPublicIsNotFollowed) {
  answer = [](const Json&) { return Reply{reply_in_full(), true}; };
  serve();
  begin(kZonesAndUnits);
  run_until([this] { return !changes.empty(); });
  EXPECT_THAT(changes, ElementsAre(HasSubstr("older than the test")));
  EXPECT_THAT(reported, IsEmpty());
  EXPECT_FALSE(streams->is_up());
}

TEST_F(StreamsTest, ADeniedRequestIsNotAFailure) {
  answer = [](const Json& parameters) -> std::variant<Reply, Failure> {
    if (parameters.at("kind") == "units") return varlink::permission_denied();
    return as_keplerd(parameters);
  };
  serve();
  begin(kZonesAndUnits);
  run_until([this] { return streams->is_up(); });
  EXPECT_THAT(reported, ElementsAre("zones"));
  EXPECT_THAT(lost, ElementsAre("units"));
  EXPECT_THAT(changes, ElementsAre("up"));
}

TEST_F(StreamsTest, WithoutAKeplerdItReportsThatOnceAndGoesOnTrying) {
  begin(kZonesAndUnits);
  run_until([this] { return !changes.empty(); });
  EXPECT_THAT(changes, ElementsAre(HasSubstr("down: " + path)));
  serve();
  run_until([this] { return streams->is_up(); });
  EXPECT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes.back(), "up");
}

TEST_F(StreamsTest, WhenAReplyCannotBeTakenAllAreOpenedAgain) {
  throws = true;
  serve();
  begin(kZonesAndUnits);
  run_until([this] { return streams->is_up(); });
  EXPECT_THAT(changes, ElementsAre(HasSubstr("could not be processed"), "up"));
  EXPECT_THAT(lost, ElementsAre("zones", "units")) << "what was known may be half of a reply";
}

TEST_F(StreamsTest, WhenAStreamBreaksAllAreOpenedAgain) {
  serve();
  begin(kZonesAndUnits);
  run_until([this] { return streams->is_up(); });
  server.reset();
  run_until([this] { return !streams->is_up(); });
  EXPECT_THAT(lost, ElementsAre("zones", "units"));
  EXPECT_THAT(changes, Contains("down: the daemon closed the connection"));
  calls.clear();
  serve();
  run_until([this] { return streams->is_up(); });
  EXPECT_EQ(calls.size(), 2u);
}

TEST_F(StreamsTest, AnErrorIsReported) {
  answer = [](const Json&) { return varlink::invalid_parameter("kind"); };
  serve();
  begin(kZonesAndUnits);
  run_until([this] { return !changes.empty(); });
  EXPECT_THAT(changes, ElementsAre("down: keplerd answers org.varlink.service.InvalidParameter"));
}

}  // namespace
}  // namespace keplerd::client
