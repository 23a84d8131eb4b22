// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/passwords.h"

#include <gtest/gtest.h>

namespace keplerd::exporter::http {
namespace {

using namespace std::chrono_literals;

// Of cost 4.
constexpr char kSecret[] = "$2y$04$WplY1yIRfnoNA9l1ad3QWOrdU0orHonLNWlqn/pr/CDrVS9ZQOYVm";

class Check : public testing::Test {
 protected:
  // Takes 100 ms each time.
  Passwords::Means means() {
    return {[this] { return now; },
            [this](const std::string& password, const std::string& hash) {
              ++hashed;
              now += 100ms;
              return password == hash;
            }};
  }
  Verdict check(const std::string& user, const std::string& password, const Peer& peer = "192.0.2.1") {
    return passwords.check(Credentials{user, password}, peer);
  }
  // Tries wrong passwords until they are no longer checked; returns how many were.
  int guess(const Peer& peer) {
    int tries = 0;
    while (check("ann", "guess " + std::to_string(hashed), peer) == Verdict::kWrong) ++tries;
    return tries;
  }

  Nanoseconds now{1h};
  int hashed = 0;
  Passwords passwords{{{"ann", "one"}, {"bob", "two"}}, means()};
};

TEST_F(Check, DistinguishesRightFromWrong) {
  EXPECT_EQ(check("ann", "one"), Verdict::kRight);
  EXPECT_EQ(check("bob", "two"), Verdict::kRight);
  EXPECT_EQ(check("ann", "two"), Verdict::kWrong);
  EXPECT_EQ(check("eve", "one"), Verdict::kWrong);
  EXPECT_EQ(check("", ""), Verdict::kWrong);
  EXPECT_EQ(passwords.check(std::nullopt, ""), Verdict::kWrong);
}

TEST_F(Check, HashesTheSameOnlyOnce) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(check("ann", "one"), Verdict::kRight);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(check("ann", "wrong"), Verdict::kWrong);
  EXPECT_EQ(hashed, 2);
}

TEST_F(Check, JoinedPartsAreDistinguished) {
  EXPECT_EQ(check("ann", "one"), Verdict::kRight);
  EXPECT_EQ(check("an", "none"), Verdict::kWrong);
  EXPECT_EQ(check("annone", ""), Verdict::kWrong);
}

TEST_F(Check, ANameThatIsNotKnownTakesAsLong) {
  check("nobody", "x");
  EXPECT_EQ(hashed, 1);
}

TEST_F(Check, GuessingGetsAShareOfTimeAndKnownUsersAreStillAdmitted) {
  EXPECT_EQ(check("ann", "one"), Verdict::kRight);
  EXPECT_EQ(guess("192.0.2.1"), 9) << "a second in all";
  EXPECT_EQ(check("ann", "one"), Verdict::kRight);
  EXPECT_EQ(check("ann", "guess 1"), Verdict::kWrong) << "which is known, too";
  EXPECT_EQ(check("bob", "two"), Verdict::kTooMany);
  now += 1ms;
  EXPECT_EQ(check("bob", "two"), Verdict::kRight);
  const int before = hashed;
  for (int i = 0; i < 1000; ++i) {
    check("ann", "more" + std::to_string(i));
    now += 10ms;
  }
  EXPECT_LE(hashed - before, 7) << "of about 10 seconds a sixteenth";
}

TEST_F(Check, GuessingFromOneAddressTakesNothingFromAnother) {
  for (int round = 0; round < 100; ++round) {
    now += 1s;
    guess("192.0.2.1");
  }
  EXPECT_EQ(check("bob", "two", "192.0.2.1"), Verdict::kTooMany);
  EXPECT_EQ(check("bob", "two", "192.0.2.2"), Verdict::kRight);
  EXPECT_EQ(check("bob", "two", "192.0.2.1"), Verdict::kRight) << "known by now, and so free";
}

TEST_F(Check, GuessingFromManyAddressesGetsAPartOfTheTimeTogether) {
  EXPECT_EQ(check("ann", "one"), Verdict::kRight);
  int tries = 0;
  for (int i = 0; i < 1000; ++i) tries += guess("2001:db8:0:" + std::to_string(i) + "::/64");
  EXPECT_EQ(tries, 19) << "two seconds in all";
  EXPECT_EQ(check("bob", "two", "192.0.2.2"), Verdict::kTooMany);
  EXPECT_EQ(check("ann", "one", "192.0.2.2"), Verdict::kRight);
  const int before = hashed;
  for (int i = 0; i < 1000; ++i) {
    guess("2001:db8:1:" + std::to_string(i) + "::/64");
    now += 10ms;
  }
  EXPECT_LE(hashed - before, 27) << "of about 10 seconds a quarter";
}

TEST_F(Check, ManyAddressesDoNotMakeAnotherForgotten) {
  guess("192.0.2.1");
  now += 8s;
  for (int i = 0; i < 1000; ++i) {
    check("ann", std::to_string(i), "2001:db8:0:" + std::to_string(i) + "::/64");
    now += 400ms;
    if (i % 2 == 0) guess("192.0.2.1");
  }
  EXPECT_EQ(check("ann", "new", "192.0.2.1"), Verdict::kTooMany);
}

TEST_F(Check, WithoutUsersEverybodyIsRight) {
  Passwords open({}, means());
  EXPECT_EQ(open.check(std::nullopt, ""), Verdict::kRight);
  EXPECT_EQ(open.check(Credentials{"x", "y"}, ""), Verdict::kRight);
  EXPECT_EQ(hashed, 0);
}

TEST(Bcrypt, MatchesItsOwnPasswordAndNoOther) {
  EXPECT_TRUE(matches_bcrypt("secret", kSecret));
  EXPECT_FALSE(matches_bcrypt("Secret", kSecret));
  EXPECT_FALSE(matches_bcrypt("", kSecret));
  EXPECT_FALSE(matches_bcrypt("secret", "$2y$04$nonsense"));
  EXPECT_FALSE(matches_bcrypt("secret", ""));
}

}  // namespace
}  // namespace keplerd::exporter::http
