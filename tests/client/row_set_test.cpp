// SPDX-License-Identifier: Apache-2.0
#include "client/row_set.h"

#include <gtest/gtest.h>

namespace keplerd::client {
namespace {

using varlink::Json;

std::string ids(const std::vector<Json>& rows) {
  std::string out;
  for (const Json& row : rows) out += row.at("id").get<std::string>() + " ";
  return out;
}

std::string ids(const RowSet& set) {
  std::string out;
  for (const auto& [id, row] : set.rows()) out += id + " ";
  return out;
}

std::string sorted(std::string_view key) {
  const Json rows = Json::parse(R"([
    {"id": "d", "name": "b", "energyMicrojoules": 5, "cpuUsec": 1},
    {"id": "c", "name": "b", "energyMicrojoules": 5, "powerMicrowatts": 0, "cpuUsec": 9},
    {"id": "b", "name": "c", "energyMicrojoules": 9007199254740993, "powerMicrowatts": 7},
    {"id": "a", "name": "d", "energyMicrojoules": 9007199254740992, "powerMicrowatts": 8, "cpuUsec": 9}])");
  std::vector<Json> list(rows.begin(), rows.end());
  sort_rows(list, key);
  return ids(list);
}

TEST(SortRows, MostFirstAndEqualOnesById) {
  EXPECT_EQ(sorted("energy"), "b a c d ");
  EXPECT_EQ(sorted("power"), "a b c d ");
  EXPECT_EQ(sorted("cpu"), "a c d b ");
  EXPECT_EQ(sorted("name"), "c d b a ");
  EXPECT_EQ(sorted("id"), "a b c d ");
}

TEST(RowSet, AddsUpToTheCompleteList) {
  RowSet set;
  const Json first = Json::parse(R"({"rows": [{"id": "a", "n": 1}, {"id": "b", "n": 2}]})");
  set.apply(first);
  EXPECT_EQ(ids(set), "a b ");
  set.apply(Json::parse(R"({"rows": [{"id": "c", "n": 3}, {"id": "a", "n": 9}], "removed": ["b"]})"));
  ASSERT_EQ(ids(set), "a c ");
  EXPECT_EQ(set.rows().at("a").at("n"), 9);
  set.apply(Json::object());
  EXPECT_EQ(ids(set), "a c ");
}

TEST(RowSet, RowsRemovedAndAddedAgainStay) {
  RowSet set;
  set.apply(Json::parse(R"({"rows": [{"id": "a"}]})"));
  set.apply(Json::parse(R"({"rows": [{"id": "a"}], "removed": ["a"]})"));
  EXPECT_EQ(ids(set), "a ");
}

TEST(RowSet, IsWholeWhenNothingMoreOfTheInstantFollows) {
  RowSet set;
  EXPECT_FALSE(set.apply(Json::parse(R"({"rows": [{"id": "a"}], "partial": true})")));
  EXPECT_TRUE(set.apply(Json::parse(R"({"rows": [{"id": "b"}], "partial": false})")));
  EXPECT_TRUE(set.apply(Json::parse(R"({"partial": 7})")));
  EXPECT_EQ(ids(set), "a b ");
}

TEST(RowSet, IgnoresInvalidRows) {
  RowSet set;
  set.apply(Json::parse(R"({"rows": [1, {"name": "x"}], "removed": [7, null]})"));
  set.apply(Json::parse(R"({"rows": "garbage", "removed": "garbage"})"));
  set.apply(Json::parse(R"({"rows": {"a": {"id": "a"}}})"));
  set.apply(Json());
  EXPECT_EQ(ids(set), "");
}

}  // namespace
}  // namespace keplerd::client
