// SPDX-License-Identifier: Apache-2.0
#include "cost/load.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace keplerd {
namespace {

class LoadTariff : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "keplerd-cost-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::string write(const std::string& relative, std::string_view text) const {
    const std::string path = root_ + "/" + relative;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
    return path;
  }

  // etc takes precedence over usr.
  Result<Tariff> load() const { return load_tariff({root_ + "/etc", root_ + "/usr"}); }

  std::string root_;
};

TEST_F(LoadTariff, WithoutFilesNothingIsKnown) {
  const auto rates = load();
  ASSERT_TRUE(rates.ok());
  EXPECT_EQ(*rates, Tariff{});
}

TEST_F(LoadTariff, DropInsAreAppliedOnTopOfTheFile) {
  write("etc/keplerd/cost.conf", "[Cost]\nPrice=0.3\nCurrency=EUR\n");
  write("usr/keplerd/cost.conf", "[Carbon]\nIntensity=9\n");
  write("usr/keplerd/cost.conf.d/10.conf", "[Cost]\nPrice=0.4\n");
  write("etc/keplerd/keplerd.conf.d/20.conf", "[Cost]\nPrice=7\n");
  const auto rates = load();
  ASSERT_TRUE(rates.ok()) << rates.error().message;
  EXPECT_EQ(rates_at(*rates, {}), (Rates{MicroCurrency{400'000}, "EUR", {}}));
}

TEST_F(LoadTariff, APriceMayGetItsCurrencyFromALaterFile) {
  const auto file = write("etc/keplerd/cost.conf", "[Cost]\nPrice=0.3\n");
  EXPECT_EQ(load().error().message, file + ":2: Price= needs Currency= in section [Cost]");
  write("etc/keplerd/cost.conf.d/10.conf", "[Cost]\nCurrency=EUR\n");
  EXPECT_TRUE(load().ok());
}

TEST_F(LoadTariff, ErrorsNameTheFileAndTheLine) {
  const auto file = write("etc/keplerd/cost.conf.d/10.conf", "[Cost]\nCurrency=Euro\n");
  const auto rates = load();
  ASSERT_FALSE(rates.ok());
  EXPECT_EQ(rates.error().message, file + ":2: Currency=Euro: must be three capital letters, like EUR");
}

TEST_F(LoadTariff, AFileThatIsNamedMustExist) {
  EXPECT_EQ(load_tariff_file(root_ + "/gone").error().message, root_ + "/gone: No such file or directory");
  const auto rates = load_tariff_file(write("mine.conf", "[Carbon]\nIntensity=1\n"));
  ASSERT_TRUE(rates.ok());
  EXPECT_EQ(rates_at(*rates, {}), (Rates{{}, "", Micrograms{1'000'000}}));
}

TEST_F(LoadTariff, IntensitiesAreReadFromTheFileThatIsNamed) {
  const auto csv = write("grid.csv", "point_time,value\n2026-11-24T12:00:00Z,1000\n");
  const auto file = write("mine.conf", "[Carbon]\nIntensity=" + csv + "\n");
  const auto tariff = load_tariff_file(file);
  ASSERT_TRUE(tariff.ok()) << tariff.error().message;
  ASSERT_EQ(tariff->intensities.size(), 1u);
  EXPECT_EQ(tariff->intensities[0].of_kwh, Micrograms{453'592'370});

  write("grid.csv", "point_time,value\n2026-11-24,1000\n");
  EXPECT_EQ(load_tariff_file(file).error().message, csv + ":2: no time: '2026-11-24'");
  std::filesystem::remove(csv);
  EXPECT_EQ(load_tariff_file(file).error().message, csv + ": No such file or directory");
  std::filesystem::create_directory(csv);
  EXPECT_EQ(load_tariff_file(file).error().message, csv + ": not a regular file");
}

}  // namespace
}  // namespace keplerd
