// SPDX-License-Identifier: Apache-2.0
// NVIDIA cards, from a library with NVML's interface to zones shown in addition to the meter.
#include "meters/nvml/nvml.h"

#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "energy/shown_only.h"
#include "meters/nvml/card_meters.h"
#include "support/fake_host.h"
#include "support/fake_hwmon.h"
#include "support/source_readings.h"

namespace keplerd::nvml {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void report(const char* millijoules, const char* milliwatts) {
  ::setenv("FAKE_NVML_MILLIJOULES", millijoules, 1);
  ::setenv("FAKE_NVML_MILLIWATTS", milliwatts, 1);
}

TEST(Nvml, ReadsEnergyWhereACardCountsItAndElsePower) {
  const auto library = Library::open(FAKE_NVML);
  ASSERT_TRUE(library) << library.error().message;
  report("123456", "70500");
  const auto cards = library->read();
  ASSERT_EQ(cards.size(), 2u) << "the third tells nothing";
  EXPECT_EQ(cards[0].bus_id, "00000000:65:00.0");
  EXPECT_TRUE(cards[0].counts_energy);
  EXPECT_EQ(cards[0].value, 123'456'000);
  EXPECT_EQ(cards[1].bus_id, "00000000:17:00.0");
  EXPECT_FALSE(cards[1].counts_energy);
  EXPECT_EQ(cards[1].value, 70'500'000);
}

TEST(Nvml, WithoutTheLibraryOrItsDriverItSaysSo) {
  EXPECT_THAT(Library::open("/nonexistent/libnvidia-ml.so.1").error().message,
              HasSubstr("cannot open shared"));
  ::setenv("FAKE_NVML_INIT", "9", 1);
  EXPECT_THAT(Library::open(FAKE_NVML).error().message, HasSubstr("nvmlInit_v2 fails with 9"));
  ::unsetenv("FAKE_NVML_INIT");
}

TEST(Nvml, AnEnergyThatDoesNotFitIsNotBelieved) {
  const auto library = Library::open(FAKE_NVML);
  ASSERT_TRUE(library);
  report("18446744073709551615", "1000");
  EXPECT_FALSE(library->read().at(0).counts_energy);
}

// Of the first card, since the last reading: "PID PERCENT".
std::vector<std::string> samples_of(const Library& library) {
  std::vector<std::string> texts;
  const std::vector<Card> cards = library.read();
  for (const ProcessSample& sample : *cards.at(0).processes)
    texts.push_back(std::to_string(sample.pid) + " " + std::to_string(sample.percent));
  return texts;
}

TEST(NvmlUse, ASampleIsReadOnceAndNotTheFirstTime) {
  const auto library = Library::open(FAKE_NVML);
  ASSERT_TRUE(library);
  report("1", "1");
  ::setenv("FAKE_NVML_SAMPLES", "10 1000 90 0;", 1);
  EXPECT_THAT(samples_of(*library), ElementsAre()) << "of the time before";
  ::setenv("FAKE_NVML_SAMPLES", "10 1000 90 0;10 2000 50 0;20 2000 0 30;30 2100 400 0;", 1);
  EXPECT_THAT(samples_of(*library), ElementsAre("10 50", "20 30", "30 100"));
  EXPECT_THAT(samples_of(*library), ElementsAre());
  ::unsetenv("FAKE_NVML_SAMPLES");
  EXPECT_THAT(samples_of(*library), ElementsAre());
  EXPECT_THAT(library->read().at(1).processes.error().message, HasSubstr("divided into instances (MIG)"));
}

TEST(NvmlUse, IsTimeOfEachProcessOfEachCard) {
  meters::DeviceUses uses;
  uses.begin(std::chrono::seconds(5), {});
  const std::vector<Card> cards{
      {.bus_id = "00000000:65:00.0",
       .processes = std::vector<ProcessSample>{{10, 1, 50}, {10, 2, 100}, {20, 1, 10}}},
      {.bus_id = "00000000:17:00.0", .processes = Error{.message = "not supported"}},
      {.bus_id = "../../etc"}};
  const auto start_of = [](std::int32_t pid) { return pid == 10 ? std::uint64_t{77} : 0; };
  const auto texts = card_uses(cards, std::chrono::seconds(2), start_of, uses);
  EXPECT_THAT(texts,
              ElementsAre(testing::Pair("0000:17:00.0", "unknown not supported\n"),
                          testing::Pair("0000:65:00.0", "5000000\n10 77 1500000000\n20 0 200000000\n")));
}

class CardFiles : public testing::Test {
 protected:
  CardFiles() {
    directory_ = host_.paths().root + "/run/keplerd-meters/nvidia";
    std::filesystem::create_directories(directory_);
  }
  void write(const std::vector<Card>& cards) {
    const auto written = meters::write_meters(directory_, card_meters(cards, meters::boot_microseconds()));
    ASSERT_TRUE(written) << written.error().message;
  }

  FakeHost host_;
  std::string directory_;
};

TEST_F(CardFiles, AreZonesBesideTheMeter) {
  write({{"00000000:65:00.0", true, 5'000'000}, {"00000000:17:00.0", false, 70'000'000}});
  const auto source = open_shown_only(host_.open(), {});
  ASSERT_NE(source, nullptr);
  ASSERT_EQ(source->zones().size(), 2u);
  EXPECT_EQ(source->zones()[0].id, "nvidia:gpu:0");
  EXPECT_EQ(source->zones()[0].quality, Quality::kModelled) << "by their places: 17 before 65";
  EXPECT_EQ(source->zones()[0].device, "0000:17:00.0");
  EXPECT_EQ(source->zones()[1].id, "nvidia:gpu:1");
  EXPECT_EQ(source->zones()[1].quality, Quality::kMeasured);
  for (const Zone& zone : source->zones()) {
    EXPECT_FALSE(zone.in_total);
    EXPECT_EQ(zone.resource, Resource::kGpu);
  }
  EXPECT_THAT(read_all(*source, std::chrono::seconds(1)), ElementsAre(0, 5'000'000));
  write({{"00000000:65:00.0", true, 5'000'000}, {"00000000:17:00.0", false, 0}});
  EXPECT_FALSE(source->outdated());
}

TEST_F(CardFiles, AreNoticedWithOtherCardsWhenTheirWriterStartsLater) {
  std::filesystem::remove_all(directory_);
  add_hwmon(host_, 0, "i915", "pci/0000:04:00.0", {{"energy1_input", "1"}});
  const auto source = open_shown_only(host_.open(), {});
  ASSERT_NE(source, nullptr);
  EXPECT_FALSE(source->outdated());
  std::filesystem::create_directories(directory_);
  write({{"00000000:65:00.0", true, 5}});
  EXPECT_TRUE(source->outdated());
}

TEST_F(CardFiles, GoWithTheirCardsAndWithTheirWriter) {
  write({{"00000000:65:00.0", true, 5}, {"00000000:17:00.0", true, 7}});
  const auto source = open_shown_only(host_.open(), {});
  ASSERT_NE(source, nullptr);
  write({{"00000000:65:00.0", true, 5}});
  EXPECT_THAT(read_all(*source), ElementsAre(-1, 5));
  EXPECT_TRUE(source->outdated());
  std::filesystem::remove_all(directory_);
  EXPECT_THAT(read_all(*source), ElementsAre(-1, -1));
  EXPECT_EQ(open_shown_only(host_.open(), {}), nullptr);
}

TEST_F(CardFiles, OnlyABusIdBecomesAPath) {
  write({{"../../etc", true, 5}, {"", true, 5}, {"..", true, 5}, {"00000000:65:00.0", true, 5}});
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory_)) ++count;
  EXPECT_EQ(count, 1);
}

TEST_F(CardFiles, ACardThatStartsToCountIsShownAsACounter) {
  write({{"00000000:65:00.0", false, 5}});
  write({{"00000000:65:00.0", true, 9}});
  EXPECT_THAT(read_all(*open_shown_only(host_.open(), {})), ElementsAre(9));
}

}  // namespace
}  // namespace keplerd::nvml
