// SPDX-License-Identifier: Apache-2.0
// What a management controller's replies mean, and what its reader does with them.
#include <cerrno>
#include <deque>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meters/ipmi/dcmi.h"
#include "meters/ipmi/reader.h"
#include "meters/ipmi/sensors.h"

namespace keplerd::ipmi {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kWatt = 1'000'000;

// As an Intel S2600 has it: 208 W now, measuring.
const std::vector<std::uint8_t> kReply = {0x02, 0x00, 0xdc, 0xd0, 0x00, 0x0a, 0x00, 0x96, 0x01, 0xb0,
                                          0x00, 0x11, 0x22, 0x33, 0x44, 0xe8, 0x03, 0x00, 0x00, 0x40};

TEST(Dcmi, ThePowerIsInWatts) {
  EXPECT_EQ(parse_dcmi_power(kReply)->value, 208 * kWatt);
  auto large = kReply;
  large[3] = large[4] = 0xff;
  EXPECT_EQ(parse_dcmi_power(large)->value, 65'535 * kWatt);
}

TEST(Dcmi, WhatIsNoReadingIsAnError) {
  for (std::size_t length = 0; length < kReply.size(); ++length) {
    const std::vector<std::uint8_t> half(kReply.begin(), kReply.begin() + static_cast<long>(length));
    EXPECT_FALSE(parse_dcmi_power(half)) << length;
  }
  for (const std::size_t wrong : {0, 2}) {
    auto reply = kReply;
    reply[wrong] = 0x7e;
    EXPECT_EQ(parse_dcmi_power(reply).error().code, EIO);
  }
  auto off = kReply;
  off[19] = 0;
  EXPECT_EQ(parse_dcmi_power(off).error().code, EAGAIN) << "its values are old, or 0";
}

TEST(Dcmi, CompletionCodesSayWhetherItMakesSenseToTryAgain) {
  const auto code_of = [](std::uint8_t completion) {
    return parse_dcmi_power(std::vector<std::uint8_t>{0x02, completion}).error().code;
  };
  EXPECT_EQ(code_of(0xc1), ENOTSUP);
  EXPECT_EQ(code_of(0xd4), ENOTSUP);
  EXPECT_EQ(code_of(0xc0), EAGAIN);
  EXPECT_EQ(code_of(0xc3), EIO);
  EXPECT_THAT(parse_dcmi_power(std::vector<std::uint8_t>{0x02, 0xff}).error().message,
              HasSubstr("completion code 0xff"));
}

std::vector<std::string> chosen(const std::vector<PowerSensor>& sensors) {
  std::vector<std::string> names;
  for (const PowerSensor& sensor : sensors_of_host(sensors)) names.push_back(sensor.name);
  return names;
}

TEST(IpmiSensors, TheTotalIsTheHost) {
  EXPECT_THAT(chosen({{"CPU Power", 3, {}}, {"PSU1_PIN", 10, {}}, {"Sys Power", 7, {}}}),
              ElementsAre("Sys Power"));
  EXPECT_THAT(chosen({{"Pwr Consumption", 7, {}}}), ElementsAre("Pwr Consumption"));
  EXPECT_THAT(chosen({{"Power Meter", 7, {}}}), ElementsAre("Power Meter"));
  EXPECT_THAT(chosen({{"Total_Power", 7, {}}, {"Total CPU Power", 3, {}}}), ElementsAre("Total_Power"));
}

TEST(IpmiSensors, WithoutATotalTheInputsOfThePowerSuppliesAddUp) {
  EXPECT_THAT(chosen({{"PS1 Input Power", 10, {}},
                      {"PS2 Input Power", 10, {}},
                      {"PS1 Out Power", 10, {}},
                      {"Fan Power", 29, {}}}),
              ElementsAre("PS1 Input Power", "PS2 Input Power"));
  EXPECT_THAT(chosen({{"CPU1 Power", 3, {}}, {"MEM Power", 8, {}}}), IsEmpty()) << "parts are not the whole";
}

class FakeController final : public Controller {
 public:
  Result<Microwatts> dcmi_power() override {
    ++dcmi_requests;
    now += lag;
    return dcmi;
  }
  Result<std::vector<PowerSensor>> power_sensors() override {
    ++searches;
    return sensors;
  }
  Result<std::optional<Microwatts>> read_sensor(const PowerSensor&) override { return reading; }
  void reopen() override { ++reopened; }

  Result<Microwatts> dcmi = Error{.message = "no DCMI", .code = ENOTSUP};
  Result<std::vector<PowerSensor>> sensors = std::vector<PowerSensor>{};
  Result<std::optional<Microwatts>> reading = std::optional<Microwatts>();
  std::int64_t now = 100'000'000, lag = 0;
  int dcmi_requests = 0, searches = 0, reopened = 0;
};

class IpmiReader : public testing::Test {
 protected:
  // Watts and seconds, or the problem.
  std::string poll() {
    last = reader.poll();
    if (!last.problem.empty()) return last.problem;
    const meters::Meter& meter = last.meters.at(0);
    return std::to_string(meter.value / kWatt) + " W at " + std::to_string(meter.boottime / 1'000'000);
  }

  FakeController bmc;
  Reader reader{bmc, [this] { return bmc.now; }};
  meters::Poll last;
};

TEST_F(IpmiReader, PrefersDcmi) {
  bmc.dcmi = Microwatts{208 * kWatt};
  EXPECT_EQ(poll(), "208 W at 100");
  EXPECT_EQ(last.pause, 5s);
  EXPECT_EQ(last.meters.at(0).covers, "platform");
  EXPECT_EQ(bmc.searches, 0);
}

TEST_F(IpmiReader, WithoutDcmiItReadsTheSensors) {
  bmc.sensors = std::vector<PowerSensor>{{"PSU1", 10, {}}, {"PSU2", 10, {}}};
  bmc.reading = std::optional(Microwatts{100 * kWatt});
  EXPECT_EQ(poll(), "200 W at 100");
  EXPECT_EQ(poll(), "200 W at 100");
  EXPECT_EQ(bmc.searches, 1);
  EXPECT_EQ(bmc.dcmi_requests, 1) << "they are found once";
  bmc.reading = std::optional<Microwatts>();
  EXPECT_EQ(poll(), "a power sensor has no value at present");
  EXPECT_EQ(last.pause, 5s);
  EXPECT_EQ(bmc.reopened, 0);
}

TEST_F(IpmiReader, WithoutEitherItSaysSo) {
  bmc.sensors = std::vector<PowerSensor>{{"CPU Power", 3, {}}};
  EXPECT_THAT(poll(), HasSubstr("neither DCMI power readings nor a sensor of the host's power"));
}

TEST_F(IpmiReader, AControllerThatHangsIsOpenedAgainAndAskedLessOften) {
  bmc.dcmi = Microwatts{208 * kWatt};
  poll();
  bmc.dcmi = Error{.message = "driver timeout", .code = EIO};
  bmc.lag = 60'000'000;
  std::vector<Nanoseconds> pauses;
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(poll(), "driver timeout");
    pauses.push_back(last.pause);
  }
  EXPECT_THAT(pauses, ElementsAre(10s, 20s, 40s, 80s, 160s, 5min, 5min));
  EXPECT_EQ(bmc.reopened, 7);
  bmc.dcmi = Microwatts{200 * kWatt};
  bmc.lag = 2'000'000;
  bmc.now = 1'000'000'000;
  EXPECT_EQ(poll(), "200 W at 1001") << "the middle between request and reply";
  EXPECT_EQ(last.pause, 5s);
}

TEST_F(IpmiReader, WhatCannotBeAHostIsRefused) {
  bmc.dcmi = Microwatts{0};
  EXPECT_THAT(poll(), HasSubstr("less than 1 W"));
  bmc.dcmi = Microwatts{60 * kWatt};
  EXPECT_EQ(poll(), "60 W at 100");
  bmc.dcmi = Microwatts{60'000 * kWatt};
  EXPECT_THAT(poll(), HasSubstr("implausible after 60 W"));
  EXPECT_EQ(bmc.reopened, 0);
}

TEST_F(IpmiReader, AControllerThatWasResetMayHaveOtherSensors) {
  bmc.sensors = std::vector<PowerSensor>{{"Total Power", 7, {}}};
  bmc.reading = std::optional(Microwatts{100 * kWatt});
  poll();
  bmc.reading = Error{.message = "no such sensor", .code = EIO};
  poll();
  bmc.dcmi = Microwatts{101 * kWatt};
  EXPECT_EQ(poll(), "101 W at 100");
}

}  // namespace
}  // namespace keplerd::ipmi
