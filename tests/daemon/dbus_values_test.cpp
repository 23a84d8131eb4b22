// SPDX-License-Identifier: Apache-2.0
// What goes over the bus: options, paths, rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/publish/dbus/object_path.h"
#include "daemon/publish/dbus/options.h"
#include "daemon/publish/dbus/rows.h"

namespace keplerd::dbus {
namespace {

using namespace std::chrono_literals;
using sdbus::Variant;
using testing::ElementsAre;
using testing::IsEmpty;

template <class Parse>
std::string refusal(Parse parse, const VariantMap& options) {
  try {
    parse(options);
  } catch (const sdbus::Error& error) {
    return std::string(error.getName()) + ": " + error.getMessage();
  }
  return "";
}

const std::string kInvalid = "org.freedesktop.DBus.Error.InvalidArgs: option ";

TEST(Options, HaveDefaults) {
  const ListOptions list = parse_list_options({});
  EXPECT_EQ(list.limit, 500u);
  EXPECT_EQ(list.order, RowOrder::kEnergy);
  EXPECT_FALSE(list.details);
  const SubscribeOptions subscribe = parse_subscribe_options({});
  EXPECT_THAT(subscribe.kinds, IsEmpty());
  EXPECT_EQ(subscribe.limit, 500u);
  EXPECT_EQ(subscribe.interval, 0s);
}

TEST(Options, AreTaken) {
  const SubscribeOptions options =
      parse_subscribe_options({{"limit", Variant(std::uint32_t{5})},
                               {"sort", Variant(std::string("power"))},
                               {"details", Variant(true)},
                               {"interval", Variant(std::uint64_t{2'000'000})},
                               {"kinds", Variant(std::vector<std::string>{"vms", "units", "vms"})}});
  EXPECT_EQ(options.limit, 5u);
  EXPECT_EQ(options.order, RowOrder::kPower);
  EXPECT_TRUE(options.details);
  EXPECT_EQ(options.interval, 2s);
  EXPECT_THAT(options.kinds, ElementsAre(RowKind::kVms, RowKind::kUnits));
}

TEST(Options, ThatAreNotKnownAreIgnored) {
  EXPECT_EQ(parse_list_options({{"Limit", Variant(std::string("x"))}, {"kinds", Variant(1.5)}}).limit, 500u);
}

TEST(Options, ThatAreNotKnownMustBeSmall) {
  const std::string refused =
      ": expected a number, a boolean or a string of up to 256 bytes (it is not known)";
  const auto list = [](const VariantMap& options) { return refusal(parse_list_options, options); };
  const auto subscribe = [](const VariantMap& options) { return refusal(parse_subscribe_options, options); };
  EXPECT_EQ(list({{"x", Variant(std::string(256, 'y'))}}), "");
  EXPECT_EQ(list({{"x", Variant(std::string(257, 'y'))}}), kInvalid + "x" + refused);
  EXPECT_EQ(subscribe({{"x", Variant(std::string(1 << 20, 'y'))}}), kInvalid + "x" + refused);
  EXPECT_EQ(list({{"x", Variant(std::vector<std::uint8_t>{1})}}), kInvalid + "x" + refused);
  EXPECT_EQ(list({{"kinds", Variant(std::vector<std::string>{"vms"})}}), kInvalid + "kinds" + refused);
  EXPECT_EQ(list({{std::string(257, 'x'), Variant(1)}}),
            "org.freedesktop.DBus.Error.InvalidArgs: the name of an option is longer than 256 bytes");
}

TEST(Options, AreAtMostSixteen) {
  VariantMap options;
  for (int i = 0; i < 16; ++i) options.emplace("x" + std::to_string(i), Variant(i));
  EXPECT_EQ(refusal(parse_list_options, options), "");
  options.emplace("y", Variant(1));
  EXPECT_EQ(refusal(parse_list_options, options),
            "org.freedesktop.DBus.Error.InvalidArgs: more than 16 options");
  EXPECT_EQ(refusal(parse_subscribe_options, {{"kinds", Variant(std::vector<std::string>(17, "vms"))}}),
            kInvalid + "kinds: expected at most 16 kinds");
}

TEST(Options, NumbersMayBeOfAnyIntegerType) {
  for (const Variant& value : {Variant(std::uint8_t{7}), Variant(std::int16_t{7}), Variant(std::uint16_t{7}),
                               Variant(std::int32_t{7}), Variant(std::uint32_t{7}), Variant(std::int64_t{7}),
                               Variant(std::uint64_t{7})})
    EXPECT_EQ(parse_list_options({{"limit", value}}).limit, 7u);
}

TEST(Options, AreRefusedByName) {
  const auto list = [](const VariantMap& options) { return refusal(parse_list_options, options); };
  EXPECT_EQ(list({{"limit", Variant(-1)}}), kInvalid + "limit: expected an integer that is not negative");
  EXPECT_EQ(list({{"limit", Variant(1.0)}}), kInvalid + "limit: expected an integer that is not negative");
  EXPECT_EQ(list({{"sort", Variant(std::string("colour"))}}),
            kInvalid + "sort: expected a string: energy, power, cpu, name or id");
  EXPECT_EQ(list({{"sort", Variant(1)}}),
            kInvalid + "sort: expected a string: energy, power, cpu, name or id");
  EXPECT_EQ(list({{"details", Variant(1)}}), kInvalid + "details: expected a boolean");
  const auto subscribe = [](const VariantMap& options) { return refusal(parse_subscribe_options, options); };
  EXPECT_EQ(subscribe({{"interval", Variant(std::string("1s"))}}),
            kInvalid + "interval: expected an integer, in microseconds, that is not negative");
  const std::string kinds =
      kInvalid + "kinds: expected an array of units, vms, containers, pods, processes, zones";
  EXPECT_EQ(subscribe({{"kinds", Variant(std::string("units"))}}), kinds);
  EXPECT_EQ(subscribe({{"kinds", Variant(std::vector<std::string>{"colours"})}}), kinds);
}

TEST(Options, AnIntervalTooLongForTheClockIsTheLongest) {
  EXPECT_GT(parse_subscribe_options({{"interval", Variant(UINT64_MAX)}}).interval, 24h * 365 * 200);
}

TEST(ObjectPath, WritesEveryByteButLettersAndDigitsInHexadecimal) {
  EXPECT_EQ(object_path("/org/keplerd1/zone", "powercap:package:0"),
            "/org/keplerd1/zone/powercap_3apackage_3a0");
  EXPECT_EQ(object_path("/org/keplerd1/vm", "4f0a-b"), "/org/keplerd1/vm/_34f0a_2db");
  EXPECT_EQ(object_path("/org/keplerd1/vm", "../x_y"), "/org/keplerd1/vm/_2e_2e_2fx_5fy");
  EXPECT_EQ(object_path("/org/keplerd1/vm", ""), "/org/keplerd1/vm/_");
}

TEST(ObjectPath, IsReadOnlyInTheFormThatItIsWrittenIn) {
  for (const char* id : {"powercap:package:0", "4f0a-b", "../x_y", ""})
    EXPECT_EQ(id_of_path("/org/keplerd1/vm", object_path("/org/keplerd1/vm", id)), id);
  for (const char* path : {"/org/keplerd1/vm", "/org/keplerd1/vm/a/b", "/org/keplerd1/vm/_61",
                           "/org/keplerd1/vmx", "/org/keplerd1/zone/a", "/"})
    EXPECT_EQ(id_of_path("/org/keplerd1/vm", path), std::nullopt) << path;
}

TEST(Rows, HaveNumbersAndMarkUnknownOnes) {
  const auto made = std::make_shared<Report>();
  Report& report = *made;
  report.units.push_back({});
  UnitRow& unit = report.units[0];
  unit.info = std::make_shared<UnitInfo>(UnitInfo{.id = "/a", .name = "a", .is_unit = true, .parent = "/"});
  unit.active = {5};
  unit.idle = {2};
  unit.cpu = 3ms;
  const Row plain = make_row({made}, RowKind::kUnits, 0, false);
  EXPECT_EQ(std::get<0>(plain), "/a");
  EXPECT_EQ(std::get<1>(plain), "a");
  EXPECT_EQ(std::get<2>(plain), "running");
  EXPECT_EQ(std::get<3>(plain), 7u);
  EXPECT_EQ(std::get<4>(plain), 5u);
  EXPECT_EQ(std::get<5>(plain), 2u);
  EXPECT_EQ(std::get<6>(plain), UINT64_MAX) << "the power is not known";
  EXPECT_EQ(std::get<7>(plain), 3000u);
  EXPECT_THAT(std::get<8>(plain), IsEmpty());
  unit.running = false;
  unit.power = Microwatts{40};
  const Row row = make_row({made}, RowKind::kUnits, 0, true);
  EXPECT_EQ(std::get<2>(row), "terminated");
  EXPECT_EQ(std::get<6>(row), 40u);
  const auto& details = std::get<8>(row);
  EXPECT_EQ(details.at("kind").get<std::string>(), "unit");
  EXPECT_EQ(details.at("parent").get<std::string>(), "/");
  EXPECT_EQ(details.at("quality").get<std::string>(), "attributed");
  EXPECT_EQ(details.at("ownMicrojoules").get<std::uint64_t>(), 0u);
}

TEST(Rows, HaveOnlyZonesThatAreDivided) {
  Report report;
  report.zones.resize(2);
  report.zones[0].zone = {.id = "acpi:platform:0", .name = "platform", .resource = Resource::kNone};
  report.zones[1].zone = {.id = "powercap:package:0", .name = "package"};
  const std::vector<ZoneShare> shares = {{}, {.energy = {7}}};
  EXPECT_EQ(bus_value(ZoneShares{report, shares, nullptr}),
            (std::vector<ZonePart>{{"powercap:package:0", "package", 7u, UINT64_MAX}}));
}

TEST(Rows, DetailsOfAMachineContainOnlyKnownFields) {
  const auto made = std::make_shared<Report>();
  Report& report = *made;
  report.vms.push_back({});
  report.vms[0].info =
      std::make_shared<VmInfo>(VmInfo{.id = "u", .name = "n", .hypervisor = "kvm", .uuid = "u", .pid = 42});
  const auto details = std::get<8>(make_row({made}, RowKind::kVms, 0, true));
  EXPECT_EQ(details.at("hypervisor").get<std::string>(), "kvm");
  EXPECT_EQ(details.at("pid").get<std::uint32_t>(), 42u);
  EXPECT_FALSE(details.contains("unit"));
  EXPECT_FALSE(details.contains("guestElsewhere"));
}

TEST(Rows, AZoneHasNoCpuTime) {
  const auto made = std::make_shared<Report>();
  Report& report = *made;
  report.zones.push_back({.zone = {.id = "s:package:0", .name = "package", .in_total = true}, .energy = {9}});
  const Row row = make_row({made}, RowKind::kZones, 0, true);
  EXPECT_EQ(std::get<7>(row), UINT64_MAX);
  EXPECT_TRUE(std::get<8>(row).at("inTotal").get<bool>());
  EXPECT_FALSE(std::get<8>(row).contains("activeMicrowatts")) << "not known";
}

TEST(Rows, TheirSizeIsNotUnderestimated) {
  const auto made = std::make_shared<Report>();
  Report& report = *made;
  report.units.push_back({});
  report.units[0].info = std::make_shared<UnitInfo>(UnitInfo{
      .id = std::string(5000, 'x'), .name = std::string(300, 'y'), .parent = std::string(4000, 'z')});
  EXPECT_GT(size_on_bus(make_row({made}, RowKind::kUnits, 0, false)), 5300u);
  EXPECT_GT(size_on_bus(make_row({made}, RowKind::kUnits, 0, true)), 9300u);
}

}  // namespace
}  // namespace keplerd::dbus
