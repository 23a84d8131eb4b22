// SPDX-License-Identifier: Apache-2.0
#include "report/row_changes.h"

#include <ranges>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

void add(const std::shared_ptr<Report>& report, const char* id, std::int64_t energy) {
  UnitRow& row = report->units.emplace_back();
  static std::map<std::string, std::shared_ptr<const UnitInfo>> infos;
  auto& info = infos[id];
  if (!info) info = std::make_shared<UnitInfo>(UnitInfo{.id = id, .name = id});
  row.info = info;
  row.active = {energy};
}

TEST(RowChanges, AreRowsThatAreNewDifferOrAreGone) {
  const auto earlier = std::make_shared<Report>(), later = std::make_shared<Report>();
  for (const char* id : {"/a", "/b", "/d"}) add(earlier, id, 1);
  for (const char* id : {"/b", "/c", "/d"}) add(later, id, 1);
  later->units[2].active = {2};
  const auto all = std::views::iota(std::size_t{0}, std::size_t{3});
  const RowChanges changes = row_changes(RowKind::kUnits, {earlier}, all, {later}, all);
  EXPECT_THAT(changes.rows, ElementsAre(1, 2));
  EXPECT_THAT(changes.removed, ElementsAre("/a"));
}

TEST(RowChanges, OfSomeRowsAreThoseAlone) {
  const auto earlier = std::make_shared<Report>(), later = std::make_shared<Report>();
  for (const char* id : {"/a", "/b", "/c"}) add(earlier, id, 1), add(later, id, 2);
  const RowChanges changes = row_changes(RowKind::kUnits, {earlier}, std::vector<std::size_t>{0, 2}, {later},
                                         std::vector<std::size_t>{1, 2});
  EXPECT_THAT(changes.rows, ElementsAre(1, 2));
  EXPECT_THAT(changes.removed, ElementsAre("/a")) << "it is no longer among them";
}

TEST(RowChanges, WithoutAnEarlierReportAreAllRows) {
  const auto later = std::make_shared<Report>();
  for (const char* id : {"/a", "/b"}) add(later, id, 1);
  const RowChanges changes = row_changes(RowKind::kUnits, {}, std::vector<std::size_t>{}, {later},
                                         std::views::iota(std::size_t{0}, std::size_t{2}));
  EXPECT_THAT(changes.rows, ElementsAre(0, 1));
  EXPECT_THAT(changes.removed, IsEmpty());
}

}  // namespace
}  // namespace keplerd
