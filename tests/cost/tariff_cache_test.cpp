// SPDX-License-Identifier: Apache-2.0
#include "cost/tariff_cache.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace keplerd {
namespace {

class Cached : public testing::Test {
 protected:
  Cached() {
    write_csv("2026-11-24 12:00,100\n");
    write("cost.conf", "[Carbon]\nIntensity=" + (directory_ / "grid.csv").string() + "\n");
  }
  ~Cached() override { std::filesystem::remove_all(directory_); }

  void write(const char* name, const std::string& text) const { std::ofstream(directory_ / name) << text; }
  void write_csv(const std::string& lines) const { write("grid.csv", "datetime,carbon intensity\n" + lines); }

  static std::string make_directory() {
    std::string name = testing::TempDir() + "keplerd-cost-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    return name;
  }

  std::filesystem::path directory_ = make_directory();
  TariffCache cache_{directory_ / "cost.conf"};
};

TEST_F(Cached, IsTheSameObjectUntilAFileChanges) {
  const auto first = cache_.load().tariff;
  EXPECT_EQ(first->intensities.size(), 1u);
  EXPECT_EQ(cache_.load().tariff, first);
  write_csv("2026-11-24 12:00,100\n2026-11-24 13:00,120\n");
  EXPECT_EQ(cache_.load().tariff->intensities.size(), 2u);
  EXPECT_EQ(first->intensities.size(), 1u) << "whoever uses it keeps it";
  write("cost.conf", "[Carbon]\nIntensity=3\n");
  EXPECT_EQ(cache_.load().tariff->carbon, Micrograms{3'000'000});
}

TEST_F(Cached, AFileThatReplacesAnotherOfTheSameSizeIsRead) {
  ASSERT_EQ(cache_.load().tariff->intensities.size(), 1u);
  std::ofstream(directory_ / "new.csv") << "datetime,carbon intensity\n2026-11-24 12:00,200\n";
  std::filesystem::rename(directory_ / "new.csv", directory_ / "grid.csv");
  EXPECT_EQ(cache_.load().tariff->intensities.at(0).of_kwh, Micrograms{200'000'000});
}

TEST_F(Cached, OfAnErrorNothingIsKnownUntilItIsMended) {
  ASSERT_TRUE(cache_.load().problem.empty());
  write("cost.conf", "[Cost]\nPrice=1\n");
  EXPECT_NE(cache_.load().problem.find("Price= needs Currency="), std::string::npos);
  EXPECT_EQ(*cache_.load().tariff, Tariff{});
  write("cost.conf", "[Carbon]\nIntensity=" + (directory_ / "none.csv").string() + "\n");
  EXPECT_NE(cache_.load().problem.find("none.csv"), std::string::npos);
  write("none.csv", "datetime,carbon intensity\n2026-11-24 12:00,5\n");
  EXPECT_EQ(cache_.load().problem, "");
  EXPECT_EQ(cache_.load().tariff->intensities.size(), 1u);
}

}  // namespace
}  // namespace keplerd
