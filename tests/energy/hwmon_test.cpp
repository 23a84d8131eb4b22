// SPDX-License-Identifier: Apache-2.0
#include "energy/hwmon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "energy/cpu/processor_sensors.h"
#include "energy/hwmon_zones.h"
#include "energy/shown_only.h"
#include "support/fake_host.h"
#include "support/fake_hwmon.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;

// -1 for an error.
std::vector<std::int64_t> read_all(EnergySource& source, Nanoseconds now = 0s) {
  ZoneReadings readings;
  source.read(now, readings);
  std::vector<std::int64_t> energies;
  for (const auto& reading : readings) energies.push_back(reading ? reading->value : -1);
  return energies;
}

// "ID QUALITY", with a plus sign if the zone is in the total, and a minus if it is not divided.
std::vector<std::string> reported(const EnergySource& source) {
  std::vector<std::string> texts;
  for (const auto& zone : source.zones()) {
    const bool divided = zone.resource == Resource::kCpu || zone.resource == Resource::kDram;
    texts.push_back(std::string(zone.in_total ? "+" : "") + (divided ? "" : "-") + zone.id + " " +
                    std::string(quality_name(zone.quality)));
  }
  return texts;
}

class HwmonTest : public ::testing::Test {
 protected:
  std::unique_ptr<EnergySource> open(const std::vector<std::string>& names = {}) {
    auto source = open_processor_sensors(host_.open(), names);
    if (!source) ADD_FAILURE() << source.error().message;
    return source ? *std::move(source) : nullptr;
  }
  std::unique_ptr<EnergySource> shown_only(const std::vector<std::string>& names = {}) {
    return open_shown_only(host_.open(), names);
  }

  FakeHost host_;
};

TEST_F(HwmonTest, AmdEnergyCountsSocketsAndNoCores) {
  add_hwmon(host_, 0, "amd_energy", "platform/amd_energy.0",
            {{"energy1_input", "5"},
             {"energy1_label", "Ecore000"},
             {"energy65_input", "1000"},
             {"energy65_label", "Esocket0"},
             {"energy66_input", "2000"},
             {"energy66_label", "Esocket1"}});
  const auto source = open();
  EXPECT_EQ(source->name(), "hwmon");
  EXPECT_THAT(reported(*source), ElementsAre("+hwmon:package:0 modelled", "+hwmon:package:1 modelled"));
  EXPECT_THAT(read_all(*source), ElementsAre(1000, 2000));
  EXPECT_FALSE(source->zones()[0].begins_anew) << "the kernel's counter";
}

TEST_F(HwmonTest, PowerIsIntegratedOverTimeAndModelled) {
  add_hwmon(host_, 2, "apm_xgene", "platform/APMC0D29:00",
            {{"power1_input", "30000000"},
             {"power1_label", "CPU power"},
             {"power2_input", "9000000"},
             {"power2_label", "IO power"}});
  const auto source = open();
  EXPECT_THAT(reported(*source), ElementsAre("+hwmon:package:0 modelled"));
  EXPECT_THAT(read_all(*source, 100s), ElementsAre(0));
  host_.write(hwmon_file(2, "power1_input"), "50000000\n");
  EXPECT_THAT(read_all(*source, 102s), ElementsAre(80'000'000));
  EXPECT_TRUE(source->zones()[0].begins_anew);
}

TEST_F(HwmonTest, OldAmdProcessorsAreInTheOrderOfTheirDevices) {
  add_hwmon(host_, 0, "fam15h_power", "pci0000:00/0000:00:19.4", {{"power1_input", "20000000"}});
  add_hwmon(host_, 1, "fam15h_power", "pci0000:00/0000:00:18.4",
            {{"power1_input", "10000000"}, {"power1_average", "77"}});
  const auto source = open();
  read_all(*source, 0s);
  EXPECT_THAT(read_all(*source, 1s), ElementsAre(10'000'000, 20'000'000))
      << "and never the average, which waits";
}

TEST_F(HwmonTest, NothingOnAnUnknownChipIsAProcessor) {
  add_hwmon(host_, 0, "nvme", "pci/nvme0", {{"power1_input", "5000000"}, {"power1_label", "CPU power"}});
  add_hwmon(host_, 1, "scmi_sensors", "firmware:scmi", {{"energy1_input", "1"}, {"energy1_label", "CPU"}});
  add_hwmon(host_, 2, "amdgpu", "pci/0000:03:00.0", {{"power1_average", "5000000"}});
  add_hwmon(host_, 3, "power_meter", "acpi/ACPI000D:00", {{"power1_average", "5000000"}});
  const auto source = open_processor_sensors(host_.open(), {});
  ASSERT_FALSE(source);
  EXPECT_THAT(source.error().message, EndsWith("/sys/class/hwmon: no known processor sensor"));
  EXPECT_THAT(shown_only()->zones(), testing::SizeIs(2));
}

TEST_F(HwmonTest, GraphicsOfAProcessorCoverTheSocketAndNotACard) {
  add_hwmon(host_, 0, "amdgpu", "pci/0000:03:00.0", {{"power1_average", "5000000"}, {"in0_label", "vddgfx"}});
  add_hwmon(host_, 1, "amdgpu", "pci/0000:04:00.0", {{"power1_input", "5000000"}, {"in1_label", "vddnb"}});
  const auto source = shown_only();
  ASSERT_THAT(source->zones(), testing::SizeIs(2));
  EXPECT_EQ(coverage_of(source->zones()[0]), Coverage::kGpu);
  EXPECT_EQ(coverage_of(source->zones()[1]), Coverage::kCpu) << "counted in its package";
}

TEST_F(HwmonTest, IsAbsentWithoutTheClass) {
  EXPECT_EQ(open_processor_sensors(host_.open(), {}).error().code, ENOENT);
  EXPECT_EQ(shown_only(), nullptr);
}

TEST_F(HwmonTest, PlatformsRailsAndGraphicsCardsAreNotDivided) {
  add_hwmon(host_, 0, "power_meter", "acpi/ACPI000D:00",
            {{"power1_average", "200000000"}, {"power1_input", "1"}});
  add_hwmon(host_, 1, "ina226", "i2c-1/1-0041", {{"power1_input", "3000000"}});
  add_hwmon(host_, 2, "ina219", "i2c-1/1-0040", {{"power1_input", "2000000"}});
  add_hwmon(host_, 3, "i915", "pci/0000:04:00.0", {{"energy1_input", "111"}});
  add_hwmon(host_, 4, "i915_gt0", "pci/0000:04:00.0", {{"energy1_input", "99"}});
  add_hwmon(host_, 5, "xe", "pci/0000:05:00.0",
            {{"energy1_input", "222"},
             {"energy1_label", "card"},
             {"energy2_input", "200"},
             {"energy2_label", "pkg"}});
  add_hwmon(host_, 6, "amdgpu", "pci/0000:03:00.0", {{"power1_average", "9000000"}, {"power1_label", "PPT"}});
  const auto source = shown_only();
  EXPECT_THAT(reported(*source),
              ElementsAre("-amdgpu:gpu:0 modelled", "-i915:gpu:0 measured", "-ina:rail:0 modelled",
                          "-ina:rail:1 modelled", "-acpi:platform:0 modelled", "-xe:gpu:0 measured",
                          "-xe:gpu-package:0 measured"));
  for (const Zone& zone : source->zones()) {
    const bool card = zone.name.starts_with("gpu");
    EXPECT_EQ(zone.resource, card ? Resource::kGpu : Resource::kNone) << zone.id;
  }
  read_all(*source, 0s);
  EXPECT_THAT(read_all(*source, 1s),
              ElementsAre(9'000'000, 111, 2'000'000, 3'000'000, 200'000'000, 222, 200));
}

TEST_F(HwmonTest, ZonesByNameChooseBesideToo) {
  add_hwmon(host_, 1, "ina226", "i2c-1/1-0041", {{"power1_input", "3000000"}});
  add_hwmon(host_, 3, "i915", "pci/0000:04:00.0", {{"energy1_input", "111"}});
  EXPECT_THAT(reported(*shown_only({"gpu"})), ElementsAre("-i915:gpu:0 measured"));
  EXPECT_EQ(shown_only({"package"}), nullptr);
}

TEST_F(HwmonTest, CardThatSleepsIsNotWokenUp) {
  add_hwmon(host_, 0, "i915", "pci/0000:04:00.0", {{"energy1_input", "100"}});
  add_hwmon(host_, 1, "amdgpu", "pci/0000:03:00.0", {{"power1_average", "9000000"}});
  const auto source = shown_only();
  EXPECT_THAT(read_all(*source, 0s), ElementsAre(0, 100));
  for (const char* card : {"0000:03:00.0", "0000:04:00.0"}) {
    host_.write(std::string("sys/devices/pci/") + card + "/power/runtime_status", "suspended\n");
  }
  host_.break_file(hwmon_file(0, "energy1_input"));
  host_.break_file(hwmon_file(1, "power1_average"));
  EXPECT_THAT(read_all(*source, 2s), ElementsAre(9'000'000, 100)) << "down to nothing from its last power";
  EXPECT_THAT(read_all(*source, 4s), ElementsAre(9'000'000, 100));
}

TEST_F(HwmonTest, SlowMeterIsReadAfterTheSampleEveryFiveSeconds) {
  add_hwmon(host_, 0, "power_meter", "acpi/ACPI000D:00", {{"power1_average", "100000000"}});
  const auto source = shown_only();
  EXPECT_THAT(read_all(*source, 0s), ElementsAre(0));
  source->refresh(0s);
  host_.write(hwmon_file(0, "power1_average"), "300000000\n");
  source->refresh(4s);
  EXPECT_THAT(read_all(*source, 4s), ElementsAre(400'000'000));
  source->refresh(5s);
  EXPECT_THAT(read_all(*source, 5s), ElementsAre(600'000'000)) << "a line from 100 to 300 W over a second";
}

TEST_F(HwmonTest, SensorThatCannotBeReadCostsOnlyItself) {
  add_hwmon(host_, 0, "ina226", "i2c-1/1-0040", {{"power1_input", "3000000"}});
  add_hwmon(host_, 1, "ina226", "i2c-1/1-0041", {{"power1_input", "-5"}});
  add_hwmon(host_, 2, "ina226", "i2c-1/1-0042", {{"power1_input", "abc"}});
  add_hwmon(host_, 3, "ina226", "i2c-1/1-0043", {{"power1_input", "1"}});
  const auto source = shown_only();
  host_.break_file(hwmon_file(3, "power1_input"));
  EXPECT_THAT(read_all(*source), ElementsAre(0, -1, -1, -1));
  host_.remove("sys/class/hwmon/hwmon0");
  EXPECT_THAT(read_all(*source), ElementsAre(-1, -1, -1, -1));
}

TEST(HwmonZones, HaveIdsOfTheirOwnWhateverTheLabelsSay) {
  const std::vector<HwmonChip> chips = {{"hwmon0",
                                         "amd_energy",
                                         "a",
                                         {{"energy1_input", "Esocket0"},
                                          {"energy2_input", "Esocket0"},
                                          {"energy3_input", "Esocket-1"},
                                          {"energy4_input", "Esocket99999"},
                                          {"energyx_input", "Esocket5"},
                                          {"energy6_average", "Esocket6"}}}};
  const auto zones = hwmon_zones(chips, {HwmonRole::kProcessor});
  ASSERT_EQ(zones.size(), 1U);
  EXPECT_EQ(zones[0].file, "energy1_input");
  EXPECT_THAT(hwmon_zones(chips, {HwmonRole::kPlatform, HwmonRole::kGpu}), IsEmpty());
}

}  // namespace
}  // namespace keplerd
