// SPDX-License-Identifier: Apache-2.0
#include "history/settings.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace keplerd::history {
namespace {

using namespace std::chrono_literals;

class HistorySettings : public testing::Test {
 protected:
  Result<Settings> load(const std::string& text) {
    const std::string path = testing::TempDir() + "history-settings.conf";
    std::ofstream(path) << text;
    auto loaded = load_settings_file(path);
    std::filesystem::remove(path);
    return loaded;
  }
  std::string error_of(const std::string& text) {
    const auto loaded = load(text);
    if (loaded) return "";
    const std::string& message = loaded.error().message;
    return message.substr(message.find(".conf:") + 6);
  }
};

TEST_F(HistorySettings, AreTheDefaultsWhereNothingIsSet) {
  const auto settings = load("");
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->five_minutes, 48h);
  EXPECT_EQ(settings->min_energy, Microjoules{1'000'000});
}

TEST_F(HistorySettings, AreRead) {
  const auto settings =
      load("[History]\nMinEnergy=0\n[Retention]\nFiveMinutes=12h\nHours=30d\nDays=1y\nMonths=10y\n");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->min_energy, Microjoules{0});
  EXPECT_EQ(settings->five_minutes, 12h);
  EXPECT_EQ(settings->hours, 30 * 24h);
  EXPECT_GT(settings->days, 365 * 24h);
  EXPECT_GT(settings->months, 3650 * 24h);
}

TEST_F(HistorySettings, MayNameTheProjectOfVirtualMachines) {
  EXPECT_EQ(load("[History]\nProject=%p-*\n")->project->project_of("shop-1"), "shop");
  EXPECT_FALSE(load("[History]\nProject=%p-*\nProject=\n")->project);
  EXPECT_EQ(error_of("[History]\nProject=shop\n"),
            "2: Project=shop: must contain %p once, like *-%p-*, with text between %p and *");
}

TEST_F(HistorySettings, HaveEachBudgetOnce) {
  const auto settings = load(
      "[Budgets]\nBudget=1J/day host\nBudget=\nBudget=2kWh/day vm a=b c\nBudget=2kWh/day vm a=b "
      "c\nBudget=5kWh/day host\n");
  ASSERT_TRUE(settings) << settings.error().message;
  ASSERT_EQ(settings->budgets.size(), 2u);
  EXPECT_EQ(settings->budgets[0].name, "a=b c");
  EXPECT_EQ(settings->budgets[1].subject(), "host");
  EXPECT_EQ(error_of("[Budgets]\nBudget=2kWh/week host\n"),
            "2: Budget=2kWh/week host: the period must be hour, day or month");
}

TEST_F(HistorySettings, AnErrorNamesTheLineAndWhatIsWrong) {
  EXPECT_EQ(error_of("[Retention]\nHours=soon\n"),
            "2: Hours=soon: must be a time of at least an hour, like 400d");
  EXPECT_EQ(error_of("[Retention]\nHours=10min\n"),
            "2: Hours=10min: must be a time of at least an hour, like 400d");
  EXPECT_EQ(error_of("[History]\nMinEnergy=lots\n"), "2: MinEnergy=lots: must be an energy, like 1J");
  EXPECT_EQ(error_of("[History]\nKeep=1\n"),
            "2: unknown key Keep= in section [History]; accepted: MinEnergy=, Project=");
  EXPECT_EQ(error_of("[Keep]\n"), "1: unknown section [Keep]; accepted: [History], [Retention], [Budgets]");
}

}  // namespace
}  // namespace keplerd::history
