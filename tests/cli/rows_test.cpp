// SPDX-License-Identifier: Apache-2.0
#include "cli/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Json unit(const std::string& id, std::int64_t power = 0, const std::string& parent = "") {
  Json row = {
      {"id", id}, {"name", id.substr(id.rfind('/') + 1)}, {"kind", "unit"}, {"powerMicrowatts", power}};
  if (!parent.empty()) row["parent"] = parent;
  return row;
}

Json group(const std::string& id, std::int64_t power = 0) {
  Json row = unit(id, power);
  row["kind"] = "group";
  return row;
}

std::vector<std::string> ids(const std::vector<Json>& rows) {
  std::vector<std::string> out;
  for (const Json& row : rows) out.push_back(row.at("id"));
  return out;
}

std::vector<std::string> drawn(const std::vector<Json>& rows, bool unicode = true) {
  std::vector<std::string> out;
  for (const TreeRow& row : tree_of(rows, unicode))
    out.push_back(row.lead + row.row.at("id").get<std::string>());
  return out;
}

TEST(Rows, EachIsInTheTreeOnceThoughOthersHaveItsId) {
  std::vector<Json> rows;
  for (int copy = 0; copy < 4; ++copy) {
    for (const Json& row : {unit("a"), unit("b", 1, "a"), unit("c", 1, "b")}) rows.push_back(row);
  }
  EXPECT_EQ(drawn(rows).size(), rows.size());
}

TEST(Rows, GraphicsIsThePowerOfWholeCardsOfThoseForWhomOneWorked) {
  std::vector<Json> rows = {unit("/a"), unit("/b"), unit("/c")};
  rows[0]["zones"] = Json::parse(R"([{"name": "package", "energyMicrojoules": 5, "powerMicrowatts": 5},
    {"name": "gpu", "energyMicrojoules": 5, "powerMicrowatts": 20}, {"name": "gpu-memory", "energyMicrojoules": 5,
    "powerMicrowatts": 7}, {"name": "gpu", "energyMicrojoules": 0, "powerMicrowatts": 3}])");
  rows[1]["zones"] = Json::parse(R"([{"name": "gpu", "energyMicrojoules": 0, "powerMicrowatts": 0}])");
  add_graphics(rows);
  EXPECT_EQ(rows[0].at("gpuMicrowatts"), 23);
  EXPECT_FALSE(rows[1].contains("gpuMicrowatts"));
  EXPECT_FALSE(rows[2].contains("gpuMicrowatts"));
}

TEST(Rows, TheTypeIsTheSuffixOfAUnitsName) {
  EXPECT_EQ(unit_type(unit("/system.slice/ssh.service")), "service");
  EXPECT_EQ(unit_type(unit("/system.slice")), "slice");
  EXPECT_EQ(unit_type(unit("/init.scope")), "scope");
  EXPECT_EQ(unit_type(group("/lxc/a.service")), "cgroup");  // a name that a user chose
  EXPECT_EQ(unit_type(unit("/odd")), "cgroup");
}

TEST(Rows, UnitsAreListedWithoutSlicesAndCgroupsInsideOthers) {
  EXPECT_TRUE(is_listed_unit(unit("/system.slice/ssh.service")));
  EXPECT_TRUE(is_listed_unit(unit("/user.slice/user@1.service/app.slice/a.service")));
  EXPECT_FALSE(is_listed_unit(unit("/system.slice")));
  EXPECT_TRUE(is_listed_unit(group("/lxc/101")));
  EXPECT_FALSE(is_listed_unit(group("/system.slice/docker-1.scope/init")));
  EXPECT_FALSE(is_listed_unit(group("/system.slice/udev.service/udev")));
}

TEST(Rows, TheTreeKeepsTheOrderOfSiblings) {
  const std::vector<Json> rows = {unit("b", 5, "a"), unit("a"),         unit("z"),
                                  unit("d", 1, "b"), unit("c", 1, "a"), unit("orphan", 0, "gone")};
  EXPECT_THAT(drawn(rows), ElementsAre("a", "├─b", "│ └─d", "└─c", "z", "orphan"));
  EXPECT_THAT(drawn(rows, false), ElementsAre("a", "|-b", "| `-d", "`-c", "z", "orphan"));
}

TEST(Rows, ARowThatIsItsOwnParentIsARoot) { EXPECT_THAT(drawn({unit("a", 0, "a")}), ElementsAre("a")); }

TEST(Consumers, DoNotIncludeEachOther) {
  const std::vector<Json> units = {unit("/user.slice", 9), unit("/user.slice/user@1.service", 9),
                                   unit("/user.slice/user@1.service/app.slice/a.service", 6),
                                   unit("/user.slice/user@1.service/app.slice/b.service", 3),
                                   unit("/c.scope", 4)};
  EXPECT_THAT(ids(largest_consumers(units, {}, 5)),
              ElementsAre("/user.slice/user@1.service/app.slice/a.service", "/c.scope",
                          "/user.slice/user@1.service/app.slice/b.service"));
  EXPECT_EQ(largest_consumers(units, {}, 2).size(), 2u);
}

TEST(Consumers, AGuestTakesThePlaceOfItsUnitAndWhatIsInside) {
  const std::vector<Json> units = {unit("/system.slice/docker-1.scope", 8),
                                   unit("/system.slice/docker-1.scope/system.slice/a.service", 7)};
  const std::vector<Json> guests = {
      {{"id", "1"}, {"unit", "/system.slice/docker-1.scope"}, {"powerMicrowatts", 8}}};
  EXPECT_THAT(ids(largest_consumers(units, guests, 5)), ElementsAre("1"));
}

TEST(Consumers, DrawSomething) {
  EXPECT_THAT(largest_consumers({unit("/a.service", 0)}, {}, 5), IsEmpty());
  Json unknown = unit("/a.service");
  unknown.erase("powerMicrowatts");
  EXPECT_THAT(largest_consumers({unknown}, {}, 5), IsEmpty());
}

}  // namespace
}  // namespace keplerd::cli
