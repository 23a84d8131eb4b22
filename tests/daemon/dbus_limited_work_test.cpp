// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include "daemon/publish/dbus/bus_compat.h"
#include "daemon/publish/dbus/limited_work.h"

namespace keplerd::dbus {
namespace {

using namespace std::chrono_literals;

class Limited : public testing::Test {
 protected:
  void add(FairQueue::Account account, char name) {
    work_.add(account, [this, name] {
      now_ += 1ms;
      done_ += name;
    });
  }

  Nanoseconds now_ = 1h;
  FairQueue queue_{{}, [this] { return now_; }};
  std::string done_;
  LimitedWork work_{queue_,
                    {.attempt = [](const auto& work) { work(); }, .answered = [this] { done_ += '.'; }}};
};

TEST_F(Limited, CallsAreAnsweredInTurnsOfTheirAccounts) {
  for (int i = 0; i < 10; ++i) add(1000, 'a');
  add(1001, 'b');
  EXPECT_EQ(done_, "");
  queue_.run_turn();
  EXPECT_EQ(done_, "a.b.a.a.a.");
}

TEST_F(Limited, AnAccountHasNoMoreThanItsPlaces) {
  for (std::size_t i = 0; i < LimitedWork::kMostOfAccount; ++i) add(1000, 'a');
  EXPECT_THROW(add(1000, 'x'), sdbus::Error);
  add(1001, 'b');
  while (!queue_.is_empty()) queue_.run_turn();
  EXPECT_EQ(done_.find('x'), done_.npos);
  EXPECT_NE(done_.find('b'), done_.npos);
  add(1000, 'c');
  queue_.run_turn();
  EXPECT_TRUE(done_.ends_with("c."));
}

TEST_F(Limited, TheTotalNumberOfPlacesIsLimited) {
  for (std::size_t i = 0; i < LimitedWork::kMostInAll; ++i) add(1000 + i % 16, 'a');
  EXPECT_THROW(add(5000, 'x'), sdbus::Error);
}

TEST(ReadingBudgets, ArePerAccountAndFillUpAgain) {
  ReadingBudgets budgets;
  EXPECT_FALSE(budgets.is_spent(1000, 1h));
  budgets.spend(1000, 1h, 90ms);
  EXPECT_FALSE(budgets.is_spent(1000, 1h));
  budgets.spend(1000, 1h, 20ms);
  EXPECT_TRUE(budgets.is_spent(1000, 1h));
  EXPECT_FALSE(budgets.is_spent(1001, 1h));
  EXPECT_TRUE(budgets.is_spent(1000, 1h + 79ms));
  EXPECT_FALSE(budgets.is_spent(1000, 1h + 80ms));
  budgets.spend(1001, 2h, 1ms);
  EXPECT_EQ(budgets.size(), 1U) << "one that is full again is forgotten";
}

}  // namespace
}  // namespace keplerd::dbus
