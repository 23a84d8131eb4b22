// SPDX-License-Identifier: Apache-2.0
// Against a server on the same loop.
#include "client/stream.h"

#include <stdexcept>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/followed_keplerd.h"

namespace keplerd::client {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using varlink::Failure;
using varlink::Json;
using varlink::Reply;

class StreamsTest : public FollowedKeplerd {
 protected:
  StreamsTest() : FollowedKeplerd("keplerd-streams") { answer = as_keplerd; }

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
  static Json reply_in_full() { return {{"accounts", {{"idle", 1}}}, {"rows", Json::array()}}; }
  // As keplerd does it.
  static std::variant<Reply, Failure> as_keplerd(const Json& parameters) {
    Json reply = reply_in_full();
    if (parameters.contains("public")) reply.erase("accounts");
    return Reply{std::move(reply), true};
  }

  std::unique_ptr<Streams> streams;
  std::vector<std::string> reported, lost, changes;
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
