// SPDX-License-Identifier: Apache-2.0
#include "energy/meters/meter_files.h"

#include <gtest/gtest.h>

namespace keplerd {
namespace {

MeterTexts texts() { return {.covers = "platform\n", .quality = "measured\n", .energy = "5\n"}; }

std::string error_of(const MeterTexts& texts) {
  const auto meter = describe_meter(texts);
  return meter ? "" : meter.error().message;
}

TEST(MeterFiles, DescribeAMeter) {
  const auto meter = describe_meter(texts());
  ASSERT_TRUE(meter) << meter.error().message;
  EXPECT_EQ(meter->covers, Coverage::kPlatform);
  EXPECT_EQ(meter->quality, Quality::kMeasured);
  EXPECT_EQ(meter->name, "platform") << "what it covers";
  EXPECT_TRUE(meter->counts_energy);
}

TEST(MeterFiles, MayNameTheZone) {
  MeterTexts named = texts();
  named.name = "psu-2\n";
  EXPECT_EQ(describe_meter(named)->name, "psu-2");
  named.name = "Psu:2";
  EXPECT_EQ(error_of(named), "name is 'Psu:2' (expected at most 32 lower case letters, digits and hyphens)");
}

TEST(MeterFiles, AreRefusedIfTheyContradictEachOther) {
  MeterTexts both = texts();
  both.power = "1";
  EXPECT_EQ(error_of(both), "it has energy_uj and power_uw (expected one of them)");
  MeterTexts neither = texts();
  neither.energy.reset();
  EXPECT_EQ(error_of(neither), "it has neither energy_uj nor power_uw");
  MeterTexts wrong = texts();
  wrong.covers = "universe";
  EXPECT_EQ(error_of(wrong), "covers is 'universe' (expected platform, cpu, gpu or other)");
  wrong.covers.reset();
  EXPECT_EQ(error_of(wrong), "covers is '' (expected platform, cpu, gpu or other)");
  MeterTexts simulated = texts();
  simulated.quality = "simulated";
  EXPECT_EQ(error_of(simulated), "quality is 'simulated' (expected measured, modelled or estimated)");
}

TEST(MeterFiles, AReadingIsANumberAndATime) {
  const auto reading = parse_meter_reading("123456789012345\n", "5000001\n");
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->value, 123'456'789'012'345);
  EXPECT_EQ(reading->time, Nanoseconds(5'000'001'000));
  for (const char* wrong : {"", "-1", "1.5", "1 W", "99999999999999999999"}) {
    EXPECT_FALSE(parse_meter_reading(wrong, "1")) << wrong;
    EXPECT_FALSE(parse_meter_reading("1", wrong)) << wrong;
  }
  EXPECT_FALSE(parse_meter_reading("1", "9223372036854775807")) << "more than the clock can count";
}

}  // namespace
}  // namespace keplerd
