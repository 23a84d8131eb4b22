// SPDX-License-Identifier: Apache-2.0
// Which calls wait for polkit, and which questions it is sent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/publish/dbus/authorizations.h"

namespace keplerd::dbus {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using Step = Authorizations::Step;

constexpr std::uint64_t kJoe = 1000, kEve = 1001;

class Polkit : public testing::Test {
 protected:
  Authorizations::Decision ask(const std::string& client, std::uint64_t user = kJoe) {
    return authorizations.call(client, user, false, now);
  }
  Authorizations::Decision ask_user(const std::string& client, std::uint64_t user = kJoe) {
    return authorizations.call(client, user, true, now);
  }
  std::optional<std::string> refuse(Authorizations::Question question) {
    return authorizations.answered(question, false, now);
  }

  Authorizations authorizations;
  Authorizations::Time now{1h};
};

TEST_F(Polkit, IsAskedOnceForAllCallsOfAClient) {
  const auto first = ask("a"), second = ask("a");
  EXPECT_EQ(first.step, Step::kAsk);
  EXPECT_EQ(second.step, Step::kWait);
  EXPECT_EQ(second.question, first.question);
  EXPECT_EQ(ask("b").step, Step::kAsk) << "another client of the same user";
  const auto by_user = ask_user("a");
  EXPECT_EQ(by_user.step, Step::kAsk) << "the other kind";
  EXPECT_TRUE(by_user.interactive);
  EXPECT_EQ(ask_user("a").question, by_user.question);
  EXPECT_EQ(authorizations.calls(), 5U);
  EXPECT_EQ(authorizations.questions(), 3U);
  EXPECT_EQ(refuse(first.question), "a");
  EXPECT_EQ(authorizations.calls(), 3U);
  EXPECT_EQ(refuse(first.question), std::nullopt) << "once";
}

TEST_F(Polkit, ARefusalHoldsForTenSeconds) {
  refuse(ask("a").question);
  EXPECT_EQ(ask("a").step, Step::kAnswer);
  EXPECT_EQ(ask("b").step, Step::kAsk) << "another client";
  EXPECT_EQ(ask_user("a").step, Step::kAsk) << "the user was not asked";
  now += 10s;
  EXPECT_EQ(ask("a").step, Step::kAsk);
}

TEST_F(Polkit, AuthorizingIsNotARefusal) {
  EXPECT_EQ(authorizations.answered(ask_user("a").question, true, now), "a");
  EXPECT_TRUE(ask_user("b").interactive);
}

TEST_F(Polkit, AfterARefusalTheUserIsNotAskedAgainForTenSecondsOnAnyConnection) {
  refuse(ask_user("a").question);
  EXPECT_EQ(ask_user("a").step, Step::kAnswer);
  authorizations.left("a");
  const auto other = ask_user("b");
  EXPECT_EQ(other.step, Step::kAsk);
  EXPECT_FALSE(other.interactive) << "rules may authorize it";
  EXPECT_TRUE(ask_user("c", kEve).interactive) << "another user";
  now += 10s;
  EXPECT_TRUE(ask_user("d").interactive);
}

TEST_F(Polkit, AsksAUserOneQuestionAtATime) {
  const auto first = ask_user("a");
  const auto second = ask_user("b");
  EXPECT_EQ(second.step, Step::kAsk);
  EXPECT_FALSE(second.interactive);
  EXPECT_TRUE(ask_user("c", kEve).interactive);
  authorizations.answered(first.question, true, now);
  EXPECT_TRUE(ask_user("b").interactive);
}

TEST_F(Polkit, TheQuestionsOfAClientThatLeavesCountUntilTheyAreAnswered) {
  const auto first = ask("a"), by_user = ask_user("a");
  ask("a");
  EXPECT_THAT(authorizations.left("a"), ElementsAre(first.question, by_user.question));
  EXPECT_THAT(authorizations.left("a"), IsEmpty());
  EXPECT_EQ(authorizations.calls(), 0U);
  EXPECT_EQ(authorizations.questions(), 2U);
  EXPECT_FALSE(ask_user("b").interactive) << "polkit may still be asking the user";
  EXPECT_EQ(refuse(by_user.question), std::nullopt);
  EXPECT_FALSE(ask_user("c").interactive) << "that was a refusal";
}

TEST_F(Polkit, IsAskedFourQuestionsAUserAndSixtyFourInAll) {
  std::vector<Authorizations::Question> joes;
  for (const char* client : {"a", "b", "c", "d"}) joes.push_back(ask(client).question);
  EXPECT_EQ(ask("e").step, Step::kAnswer);
  EXPECT_EQ(ask("a").step, Step::kWait);
  for (std::uint64_t user = 0; user < 60; ++user)
    EXPECT_EQ(ask("of" + std::to_string(user), 2000 + user).step, Step::kAsk);
  EXPECT_EQ(ask("f", kEve).step, Step::kAnswer);
  refuse(joes.front());
  EXPECT_EQ(ask("f", kEve).step, Step::kAsk);
}

TEST_F(Polkit, SixteenCallsOfAClientWaitAndSixtyFourOfAUser) {
  for (int i = 0; i < 16; ++i) EXPECT_NE(ask("a").step, Step::kTooMany);
  EXPECT_EQ(ask("a").step, Step::kTooMany);
  EXPECT_EQ(ask_user("a").step, Step::kTooMany) << "of both kinds together";
  for (const char* client : {"b", "c", "d"})
    for (int i = 0; i < 16; ++i) EXPECT_NE(ask(client).step, Step::kTooMany);
  authorizations.left("b");
  for (int i = 0; i < 16; ++i) EXPECT_NE(ask("c2", kEve).step, Step::kTooMany);
  EXPECT_EQ(authorizations.calls(), 64U);
}

TEST_F(Polkit, FiveHundredAndTwelveCallsWaitInAll) {
  for (std::uint64_t user = 0; user < 32; ++user)
    for (int i = 0; i < 16; ++i) ask("of" + std::to_string(user), 2000 + user);
  EXPECT_EQ(authorizations.calls(), 512U);
  EXPECT_EQ(ask("a").step, Step::kTooMany);
  EXPECT_EQ(authorizations.questions(), 32U) << "and nothing is asked for it";
}

TEST_F(Polkit, AUserHasSixtyFourCallsThatWait) {
  std::vector<Authorizations::Question> questions;
  for (const char* client : {"a", "b", "c", "d"}) {
    questions.push_back(ask(client).question);
    for (int i = 0; i < 15; ++i) ask(client);
  }
  authorizations.left("a");
  refuse(questions[0]);
  ask("e");
  for (int i = 0; i < 14; ++i) ask("e");
  EXPECT_EQ(ask_user("f").step, Step::kAnswer) << "four questions are under way";
  EXPECT_EQ(ask("e").step, Step::kWait);
  EXPECT_EQ(authorizations.calls(), 64U);
}

}  // namespace
}  // namespace keplerd::dbus
