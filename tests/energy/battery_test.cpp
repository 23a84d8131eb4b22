// SPDX-License-Identifier: Apache-2.0
#include "energy/battery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "energy/battery_power.h"
#include "energy/select_source.h"
#include "energy/shown_only.h"
#include "support/fake_host.h"
#include "support/source_readings.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class Battery : public testing::Test {
 protected:
  using Files = std::vector<std::pair<std::string, std::string>>;

  void add(const std::string& name, const Files& files) {
    for (const auto& [file, text] : files)
      host.write("sys/class/power_supply/" + name + "/" + file, text + "\n");
  }
  void set_mains(bool online) { add("AC", {{"type", "Mains"}, {"online", online ? "1" : "0"}}); }
  void set_status(const std::string& status) { add("BAT0", {{"status", status}}); }
  void add_laptop() {
    set_mains(false);
    add("BAT0",
        {{"type", "Battery"}, {"present", "1"}, {"status", "Discharging"}, {"power_now", "12500000"}});
  }

  // The power in microwatts, or why there is none.
  std::string power() {
    const auto left_out = battery_left_out(host.open());
    if (!left_out.empty()) return left_out.at(0).what + " " + left_out.at(0).why;
    const auto source = open_battery(host.open(), {});
    if (source->zones().empty()) return "none";
    read_all(*source, 0s);
    return std::to_string(read_all(*source, 1s).at(0));
  }

  FakeHost host;
};

TEST_F(Battery, IsThePowerOfTheHostWhileItIsDischarging) {
  EXPECT_EQ(power(), "none");
  add_laptop();
  EXPECT_EQ(power(), "12500000");
  const auto source = open_shown_only(host.open(), {});
  ASSERT_NE(source, nullptr);
  const Zone& zone = source->zones().at(0);
  EXPECT_EQ(zone.id, "battery:platform:0");
  EXPECT_EQ(zone.quality, Quality::kModelled);
  EXPECT_EQ(zone.resource, Resource::kNone);
  EXPECT_FALSE(zone.in_total);
  EXPECT_EQ(open_shown_only(host.open(), {"package"}), nullptr) << "Zones= chooses";
}

TEST_F(Battery, IsNotReadWhileSomethingElseSuppliesTheHost) {
  add_laptop();
  set_mains(true);
  EXPECT_EQ(power(), "battery: the host is not running on battery") << "a charger that is too weak";
  set_mains(false);
  add("ucsi-source-psy-USBC000:001", {{"type", "USB"}, {"online", "1"}});
  EXPECT_EQ(power(), "battery: the host is not running on battery");
  add("ucsi-source-psy-USBC000:001", {{"type", "USB"}, {"online", "0"}});
  EXPECT_EQ(power(), "12500000");
  for (const char* status : {"Full", "Not charging", "Unknown"}) {
    set_status(status);
    EXPECT_EQ(power(), "battery: no battery is discharging");
  }
  set_status("Charging");
  EXPECT_EQ(power(), "battery: BAT0 is being charged");
}

TEST_F(Battery, SeveralAddUp) {
  add_laptop();
  add("BAT1", {{"type", "Battery"}, {"status", "Discharging"}, {"power_now", "2500000"}});
  EXPECT_EQ(power(), "15000000");
  add("BAT1", {{"status", "Not charging"}, {"power_now", "0"}});
  EXPECT_EQ(power(), "12500000");
  add("BAT1", {{"status", "Discharging"}});
  EXPECT_EQ(power(), "battery: BAT1 is discharging, but does not report its power") << "half of it is not it";
  add("BAT1", {{"present", "0"}});
  EXPECT_EQ(power(), "12500000") << "taken out";
}

TEST_F(Battery, OfAMouseIsNotThatOfTheHost) {
  add("hidpp_battery_0",
      {{"type", "Battery"}, {"scope", "Device"}, {"status", "Discharging"}, {"power_now", "5"}});
  add("usb", {{"type", "USB"}, {"scope", "Device"}, {"online", "1"}});
  EXPECT_EQ(power(), "none");
  add_laptop();
  EXPECT_EQ(power(), "12500000");
}

TEST_F(Battery, WithoutPowerItsCurrentAndVoltageAreMultiplied) {
  add_laptop();
  add("BAT0", {{"power_now", "0"}, {"current_now", "-1100000"}, {"voltage_now", "11000000"}});
  EXPECT_EQ(power(), "12100000") << "1.1 A at 11 V; negative in some firmware";
  add("BAT0", {{"power_now", "-9000000"}});
  EXPECT_EQ(power(), "9000000");
  for (const char* wrong : {"9223372036854775807", "-9223372036854775808", "2000000000", "lots", ""}) {
    add("BAT0", {{"power_now", wrong}, {"current_now", wrong}});
    EXPECT_EQ(power(), "battery: BAT0 is discharging, but does not report its power") << wrong;
  }
}

TEST_F(Battery, ALaptopsDay) {
  add_laptop();
  const auto source = open_battery(host.open(), {});
  EXPECT_THAT(read_all(*source, 0s), ElementsAre(0));
  EXPECT_THAT(read_all(*source, 10s), ElementsAre(125'000'000));
  // It is suspended for an hour, in which the clock stands still.
  EXPECT_THAT(read_all(*source, 11s), ElementsAre(137'500'000));
  set_mains(true);
  set_status("Charging");
  EXPECT_THAT(read_all(*source, 12s), ElementsAre(-1));
  EXPECT_TRUE(source->outdated());
  // Before that is noticed, it is unplugged again: what was drawn from mains is not counted.
  set_mains(false);
  set_status("Discharging");
  EXPECT_FALSE(source->outdated());
  EXPECT_THAT(read_all(*source, 40s), ElementsAre(137'500'000));
  EXPECT_THAT(read_all(*source, 42s), ElementsAre(162'500'000));
}

TEST_F(Battery, TheZoneComesAndGoesWithTheCharger) {
  add_laptop();
  set_mains(true);
  auto source = open_battery(host.open(), {});
  EXPECT_THAT(source->zones(), IsEmpty());
  EXPECT_THAT(read_all(*source), IsEmpty());
  EXPECT_FALSE(source->outdated());
  set_mains(false);
  EXPECT_TRUE(source->outdated());
  source = open_battery(host.open(), {});
  EXPECT_EQ(source->zones().size(), 1u);
  EXPECT_FALSE(source->outdated());
}

}  // namespace
}  // namespace keplerd
