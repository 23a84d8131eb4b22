// SPDX-License-Identifier: Apache-2.0
// RAPL zones as in Kepler's own tests, and where keplerd differs on purpose.
#include <gtest/gtest.h>

#include "energy/cpu/powercap.h"
#include "energy/cpu/powercap_zones.h"
#include "support/fake_host.h"
#include "support/vectors.h"

namespace keplerd {
namespace {

const nlohmann::json& vectors() { return kepler_vectors().at("rapl_zones"); }

TEST(KeplerRaplZones, StandardPathsAreTheZonesOfTheMainDriver) {
  ASSERT_FALSE(vectors().at("standard_path").empty());
  for (const auto& [path, standard] : vectors().at("standard_path").items()) {
    const auto directory = path.substr(path.rfind('/') + 1);
    EXPECT_EQ(is_rapl_zone(directory) && powercap_control_type(directory) == "intel-rapl",
              standard.get<bool>())
        << path;
  }
}

TEST(KeplerRaplZones, FilterChoosesByName) {
  FakeHost fake;
  fake.add_powercap_zone({.dir = "intel-rapl:0", .name = "package-0"});
  int next = 0;
  const auto names = vectors().at("filter").at(0).at("zones").get<std::vector<std::string>>();
  for (const auto& name : names) {
    if (name != "package")
      fake.add_powercap_zone({.dir = "intel-rapl:0:" + std::to_string(next++), .name = name});
  }
  const auto host = fake.open();
  for (const auto& vector : vectors().at("filter")) {
    const auto source = open_powercap(host, vector.at("filter").get<std::vector<std::string>>());
    ASSERT_EQ(source.ok(), !vector.value("error", false)) << vector;
    if (!source) continue;
    std::set<std::string> kept;
    for (const auto& zone : (*source)->zones()) kept.insert(zone.name);
    EXPECT_EQ(kept, vector.at("kept").get<std::set<std::string>>()) << vector;
  }
}

TEST(KeplerRaplZones, FixtureIsReadAndItsTwinCountedOnce) {
  FakeHost fake;
  for (const auto& zone : vectors().at("fixture")) {
    fake.add_powercap_zone({.dir = zone.at("dir"),
                            .name = zone.at("name"),
                            .energy = zone.at("energy_uj").get<std::int64_t>(),
                            .range = zone.at("max_uj").get<std::int64_t>()});
  }
  const auto source = open_powercap(fake.open(), {});
  ASSERT_TRUE(source) << source.error().message;
  ZoneReadings readings;
  (*source)->read({}, readings);
  std::map<std::string, std::int64_t> energies;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    const auto& zone = (*source)->zones().at(i);
    EXPECT_EQ(zone.range, Microjoules{262'143'328'850}) << zone.id;
    energies[zone.id] = readings[i]->value;
  }
  EXPECT_EQ(energies, (std::map<std::string, std::int64_t>{{"powercap:package:0", 240'422'366'267},
                                                           {"powercap:core:0", 118'821'284'256},
                                                           {"powercap:package:10", 240'422'366'267}}));
}

TEST(KeplerRaplZones, DifferOnPurposeWhereKeplerCountsDramTwice) {
  std::vector<PowercapDirectory> directories = {{"intel-rapl:0", "package-0", "", {}},
                                                {"intel-rapl-mmio:0", "package-0", "", {}}};
  const auto& vector = vectors().at("derived").at(0);
  ASSERT_EQ(vector.at("wanted"), "one");
  for (const auto& [directory, name] : vector.at("dirs").items())
    directories.push_back({directory, name, "", {}});
  int drams = 0;
  for (const auto& zone : powercap_zones(directories, {})) drams += zone.zone.name == "dram" ? 1 : 0;
  EXPECT_EQ(drams, 1);
}

TEST(KeplerRaplZones, DifferOnPurposeWhereKeplerTakesTheDieForAName) {
  const auto& vector = vectors().at("derived").at(1);
  const auto zones = powercap_zones({{"intel-rapl:0", vector.at("name"), "", {}}}, {});
  ASSERT_EQ(zones.size(), 1U);
  EXPECT_EQ(zones[0].zone.name, vector.at("wanted"));
}

}  // namespace
}  // namespace keplerd
