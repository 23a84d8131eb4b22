// SPDX-License-Identifier: Apache-2.0
#include "history/budget/waiting.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "history/budget/unit_name.h"

namespace keplerd::history {
namespace {

using ::testing::HasSubstr;

class WaitingTest : public ::testing::Test {
 protected:
  WaitingTest() { std::filesystem::create_directories(directory_); }
  ~WaitingTest() override { std::filesystem::remove_all(directory_); }

  WaitingCrossings loaded(std::vector<Budget> configured) const {
    WaitingCrossings waiting(file_);
    const auto result = waiting.load(configured);
    EXPECT_TRUE(result) << result.error().message;
    return waiting;
  }
  void write(const std::string& text) const { std::ofstream(file_) << text; }
  std::string text() const {
    std::ifstream file(file_);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool has_file() const { return std::ifstream(file_).good(); }

  std::filesystem::path directory_ =
      std::filesystem::temp_directory_path() / ("keplerd-waiting-" + std::to_string(::getpid()));
  std::string file_ = directory_ / "waiting-crossings";
  Budget web_ = *parse_budget("2kWh/day vm web 1"), host_ = *parse_budget("1J/hour host");
  Crossing crossing(const Budget& budget, int percent, std::int64_t used) const {
    return {{budget, {Time(100), Time(200)}, {used}, ""}, percent};
  }
};

TEST_F(WaitingTest, AreAsBeforeAfterARestart) {
  auto waiting = loaded({});
  EXPECT_FALSE(waiting.add(crossing(web_, 80, 7)));
  EXPECT_FALSE(waiting.add(crossing(host_, 80, 1)));
  EXPECT_FALSE(waiting.add(crossing(web_, 100, 9)));
  ASSERT_TRUE(waiting.save());

  auto again = loaded({host_, web_});
  EXPECT_EQ(again.services(), (std::vector<std::string>{budget_service(host_), budget_service(web_)}));
  const auto first = again.take(budget_service(web_)), second = again.take(budget_service(web_));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->percent, 80);
  EXPECT_EQ(first->use.used, Microjoules{7});
  EXPECT_EQ(first->use.period, (Span{Time(100), Time(200)}));
  EXPECT_EQ(first->use.budget.name, "web 1") << "all that is configured";
  EXPECT_EQ(second->percent, 100);
  EXPECT_FALSE(again.take(budget_service(web_)));
  EXPECT_FALSE(again.has(budget_service(web_)));
  EXPECT_TRUE(again.has(budget_service(host_)));
}

TEST_F(WaitingTest, WithoutAnyThereIsNoFile) {
  auto waiting = loaded({});
  ASSERT_TRUE(waiting.save());
  waiting.add(crossing(host_, 80, 1));
  ASSERT_TRUE(waiting.save());
  EXPECT_TRUE(has_file());
  waiting.take(budget_service(host_));
  ASSERT_TRUE(waiting.save());
  EXPECT_FALSE(has_file());
}

TEST_F(WaitingTest, OfABudgetThatIsNotConfiguredAnyMoreAreDropped) {
  write("80 1 100 200 1J/hour host\n80 7 100 200 2kWh/day vm web 1\n");
  const auto waiting = loaded({web_});
  EXPECT_EQ(waiting.services(), std::vector<std::string>{budget_service(web_)});
}

TEST_F(WaitingTest, TheOldestOfTooManyGivesWay) {
  auto waiting = loaded({});
  for (std::size_t i = 0; i < WaitingCrossings::kMostOfOne; ++i)
    EXPECT_FALSE(waiting.add(crossing(web_, 80, static_cast<std::int64_t>(i))));
  const auto oldest = waiting.add(crossing(web_, 100, 99));
  ASSERT_TRUE(oldest);
  EXPECT_EQ(oldest->use.used, Microjoules{0});
  EXPECT_EQ(waiting.take(budget_service(web_))->use.used, Microjoules{1});
}

TEST_F(WaitingTest, ADamagedLineIsAnErrorAndWhatIsBeforeItIsLoaded) {
  for (const std::string damaged :
       {"80 1 100", "x 1 100 200 1J/hour host", "80 -1 100 200 1J/hour host", "0 1 100 200 1J/hour host",
        "101 1 100 200 1J/hour host", "80 1 100 200 ", "", "80  1 100 200 1J/hour host",
        "99999999999999999999 1 100 200 1J/hour host"}) {
    write("80 7 100 200 2kWh/day vm web 1\n" + damaged + "\n80 1 100 200 1J/hour host\n");
    WaitingCrossings waiting(file_);
    const auto result = waiting.load({web_, host_});
    ASSERT_FALSE(result) << damaged;
    EXPECT_THAT(result.error().message, HasSubstr("a line is damaged"));
    EXPECT_EQ(waiting.services(), std::vector<std::string>{budget_service(web_)}) << damaged;
  }
}

TEST_F(WaitingTest, AFileThatIsTooLargeIsNotRead) {
  write(std::string((1 << 20) + 1, 'x'));
  EXPECT_FALSE(WaitingCrossings(file_).load({host_}));
}

}  // namespace
}  // namespace keplerd::history
