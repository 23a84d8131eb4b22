// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/publish/dbus/changes.h"

namespace keplerd::dbus {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

struct Unit {
  std::string id;
  std::int64_t energy = 0;
  std::string name = {};
};

// The same for the same unit, as in the ledger's reports.
std::shared_ptr<const UnitInfo> info_of(const Unit& unit) {
  static std::map<std::pair<std::string, std::string>, std::shared_ptr<const UnitInfo>> infos;
  auto& info = infos[{unit.id, unit.name}];
  if (!info)
    info =
        std::make_shared<UnitInfo>(UnitInfo{.id = unit.id, .name = unit.name.empty() ? unit.id : unit.name});
  return info;
}

// A report of these units, in the order of their ids, at this time.
ReportView report_at(Nanoseconds time, std::vector<Unit> units) {
  auto report = std::make_shared<Report>();
  report->monotonic = time;
  std::ranges::sort(units, {}, &Unit::id);
  for (const Unit& unit : units) {
    UnitRow row;
    row.active = {unit.energy};
    row.info = info_of(unit);
    report->units.push_back(std::move(row));
  }
  return {.report = std::move(report)};
}

std::vector<std::string> rows_of(const Changes& changes) {
  std::vector<std::string> ids;
  for (const KindChanges& kind : changes.kinds) {
    for (const std::size_t row : kind.rows) ids.push_back(row_key(changes.view, kind.kind, row).id_text());
  }
  return ids;
}

std::vector<std::string> removed_of(const Changes& changes) {
  std::vector<std::string> ids;
  for (const KindChanges& kind : changes.kinds)
    ids.insert(ids.end(), kind.removed.begin(), kind.removed.end());
  return ids;
}

TEST(RowSelection, SelectsTheFirstInTheRequestedOrder) {
  const auto report = report_at(0s, {{"/a", 5, "z"}, {"/b", 7, "y"}, {"/c", 6, "x"}});
  EXPECT_THAT(select_rows(report, RowKind::kUnits, RowOrder::kEnergy, 2), ElementsAre(1, 2));
  EXPECT_THAT(select_rows(report, RowKind::kUnits, RowOrder::kName, 9), ElementsAre(2, 1, 0));
  EXPECT_THAT(select_rows(report, RowKind::kUnits, RowOrder::kId, 1), ElementsAre(0));
  EXPECT_THAT(select_rows(report, RowKind::kUnits, RowOrder::kEnergy, 0), IsEmpty());
}

TEST(RowSelection, EqualRowsStayInOrder) {
  const auto report = report_at(0s, {{"/a", 5}, {"/b", 5}, {"/c", 5}});
  EXPECT_THAT(select_rows(report, RowKind::kUnits, RowOrder::kPower, 2), ElementsAre(0, 1));
}

TEST(RowOrders, AreComputedOnceAndSharedByAll) {
  const auto report = report_at(0s, {{"/a", 5, "z"}, {"/b", 7, "y"}, {"/c", 6, "x"}});
  RowOrders orders;
  const RowSequence two = orders.first(report, RowKind::kUnits, RowOrder::kEnergy, 2);
  EXPECT_THAT(two, ElementsAre(1, 2));
  const RowSequence all = orders.first(report, RowKind::kUnits, RowOrder::kEnergy, 9);
  EXPECT_THAT(all, ElementsAre(1, 2, 0));
  EXPECT_EQ(&*two.begin(), &*all.begin());
  EXPECT_THAT(orders.first(report, RowKind::kUnits, RowOrder::kName, 1), ElementsAre(2));
  EXPECT_THAT(orders.first(report, RowKind::kUnits, RowOrder::kEnergy, 0), IsEmpty());
}

TEST(RowOrders, AreThoseOfTheRequestedReport) {
  RowOrders orders;
  for (std::int64_t i = 0; i < 100; ++i) {
    const auto report = report_at(0s, {{"/a", 5}, {"/b", i % 10}});
    EXPECT_THAT(orders.first(report, RowKind::kUnits, RowOrder::kEnergy, 1), ElementsAre(i % 10 > 5 ? 1 : 0));
  }
}

TEST(RowOrders, OfProcessesAreThoseOfTheProcessesThatAreSeen) {
  const auto processes_of = [](std::vector<std::int64_t> energies) {
    auto processes = std::make_shared<ProcessRows>();
    for (std::size_t i = 0; i < energies.size(); ++i) {
      ProcessRow& row = processes->rows.emplace_back();
      row.info = std::make_shared<ProcessInfo>(ProcessInfo{.id = {static_cast<std::int32_t>(i), 7}});
      row.active = {energies[i]};
    }
    return processes;
  };
  ReportView view = report_at(0s, {});
  RowOrders orders;
  EXPECT_THAT(orders.first(view, RowKind::kProcesses, RowOrder::kEnergy, 9), IsEmpty())
      << "not asked for yet";
  const auto two = processes_of({1, 2}), three = processes_of({5, 3, 4});
  view.processes = two;
  EXPECT_THAT(orders.first(view, RowKind::kProcesses, RowOrder::kEnergy, 9), ElementsAre(1, 0));
  view.processes = three;
  EXPECT_THAT(orders.first(view, RowKind::kProcesses, RowOrder::kEnergy, 9), ElementsAre(0, 2, 1));
}

TEST(RowOrders, OnlyRequestedRowsAreOrderedAndMoreOnDemand) {
  std::vector<Unit> units;
  for (int i = 0; i < 1000; ++i) units.push_back({"/u" + std::to_string(10'000 + i), i});
  const auto report = report_at(0s, units);
  RowOrders orders;
  for (const std::size_t limit : {1U, 128U, 129U, 400U, 999U, 1000U, 5000U}) {
    const RowSequence rows = orders.first(report, RowKind::kUnits, RowOrder::kEnergy, limit);
    ASSERT_EQ(rows.size(), std::min<std::size_t>(limit, 1000));
    for (std::size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(rows[i], 999 - i);
  }
}

TEST(RowSelection, FindsById_ElseByANameThatOnlyOneHas) {
  const auto report = report_at(0s, {{"/a", 0, "one"}, {"/b", 0, "two"}, {"/c", 0, "two"}, {"/d", 0, "/a"}});
  EXPECT_EQ(find_row(report, RowKind::kUnits, "/a").index, 0u) << "an id is stronger than a name";
  EXPECT_EQ(find_row(report, RowKind::kUnits, "one").index, 0u);
  EXPECT_FALSE(find_row(report, RowKind::kUnits, "three").index);
  const FoundRow ambiguous = find_row(report, RowKind::kUnits, "two");
  EXPECT_FALSE(ambiguous.index);
  EXPECT_THAT(ambiguous.ids, ElementsAre("/b", "/c"));
}

class Tracker : public ChangeTracker {
 public:
  explicit Tracker(SubscribeOptions options, std::size_t bytes_at_once = 256 << 10)
      : ChangeTracker(std::move(options), orders_, bytes_at_once) {}

 private:
  RowOrders orders_;
};

TEST(ChangeTracker, SendsEverythingOnceAndThenOnlyWhatChanged) {
  Tracker tracker({.kinds = {RowKind::kUnits}});
  const auto first = report_at(1s, {{"/a", 1}, {"/b", 2}});
  EXPECT_THAT(rows_of(*tracker.next(first)), ElementsAre("/b", "/a"));
  EXPECT_FALSE(tracker.next(first)) << "it is told already";
  const auto second = tracker.next(report_at(2s, {{"/a", 9}, {"/b", 2}, {"/c", 3}}));
  EXPECT_THAT(rows_of(*second), ElementsAre("/a", "/c"));
  EXPECT_THAT(removed_of(*second), IsEmpty());
}

TEST(ChangeTracker, SendsOnlyTheHostWithoutKinds) {
  Tracker tracker({});
  const auto changes = tracker.next(report_at(1s, {{"/a", 1}}));
  ASSERT_TRUE(changes);
  EXPECT_THAT(changes->kinds, IsEmpty());
}

TEST(ChangeTracker, ARowThatIsGoneIsNamed) {
  Tracker tracker({.kinds = {RowKind::kUnits}});
  tracker.next(report_at(1s, {{"/a", 1}, {"/b", 2}, {"/c", 3}}));
  const auto changes = tracker.next(report_at(2s, {{"/b", 2}}));
  EXPECT_THAT(rows_of(*changes), IsEmpty());
  EXPECT_THAT(removed_of(*changes), ElementsAre("/a", "/c"));
}

TEST(ChangeTracker, ALimitedSubscriberSeesRowsEnterAndLeave) {
  Tracker tracker({.kinds = {RowKind::kUnits}, .limit = 2});
  tracker.next(report_at(1s, {{"/a", 10}, {"/b", 20}, {"/c", 5}}));
  const auto changes = tracker.next(report_at(2s, {{"/a", 10}, {"/b", 20}, {"/c", 15}}));
  EXPECT_THAT(rows_of(*changes), ElementsAre("/c"));
  EXPECT_THAT(removed_of(*changes), ElementsAre("/a"));
  const auto back = tracker.next(report_at(3s, {{"/a", 30}, {"/b", 20}, {"/c", 15}}));
  EXPECT_THAT(rows_of(*back), ElementsAre("/a"));
  EXPECT_THAT(removed_of(*back), ElementsAre("/c"));
}

TEST(ChangeTracker, EachHasItsOwnRateByTheTimeOfTheReports) {
  Tracker tracker({.interval = 3s});
  std::vector<int> reported;
  for (int second = 0; second < 10; ++second) {
    if (tracker.next(report_at(second * 1s, {}))) reported.push_back(second);
  }
  EXPECT_THAT(reported, ElementsAre(0, 3, 6, 9));
}

TEST(ChangeTracker, ASampleThatComesALittleEarlyStillCounts) {
  Tracker tracker({.interval = 1s});
  tracker.next(report_at(0ms, {}));
  EXPECT_FALSE(tracker.next(report_at(899ms, {})));
  EXPECT_TRUE(tracker.next(report_at(900ms, {})));
}

TEST(ChangeTracker, ASubscriberThatMissedReportsGetsTheirChangesAtOnce) {
  Tracker tracker({.kinds = {RowKind::kUnits}, .interval = 2s});
  tracker.next(report_at(0s, {{"/a", 1}, {"/b", 1}}));
  EXPECT_FALSE(tracker.next(report_at(1s, {{"/a", 2}, {"/b", 1}})));
  EXPECT_THAT(rows_of(*tracker.next(report_at(2s, {{"/a", 2}, {"/b", 2}}))),
              UnorderedElementsAre("/a", "/b"));
}

TEST(ChangeTracker, MuchComesInPartsOfOneInstant) {
  Tracker tracker({.kinds = {RowKind::kUnits}}, 1000);
  std::vector<Unit> units;
  for (int i = 0; i < 100; ++i) units.push_back({"/" + std::to_string(100 + i), i});
  const auto first = report_at(1s, units);
  std::vector<std::string> ids;
  int parts = 0;
  for (bool partial = true; partial; ++parts) {
    const auto part =
        tracker.next(parts == 0 ? first : report_at(2s, {}));  // what arrives meanwhile must wait
    ASSERT_TRUE(part);
    ASSERT_EQ(part->view.report, first.report);
    ASSERT_LE(rows_of(*part).size(), 12u);
    for (const std::string& id : rows_of(*part)) ids.push_back(id);
    partial = part->partial;
  }
  EXPECT_GT(parts, 8);
  EXPECT_EQ(ids.size(), 100u);
  EXPECT_EQ(ids.front(), "/199");
  EXPECT_EQ(ids.back(), "/100");

  std::size_t removed = 0;
  for (bool partial = true; partial;) {
    const auto part = tracker.next(report_at(2s, {}));
    ASSERT_TRUE(part);
    removed += removed_of(*part).size();
    partial = part->partial;
  }
  EXPECT_EQ(removed, 100u);
}

TEST(ChangeTracker, KindsComeInTheRequestedOrder) {
  auto report = std::make_shared<Report>();
  report->zones.resize(1);
  report->units.push_back({});
  report->units[0].info = std::make_shared<UnitInfo>(UnitInfo{.id = "/a", .name = "a"});
  Tracker tracker({.kinds = {RowKind::kZones, RowKind::kUnits}});
  const auto changes = tracker.next({report});
  ASSERT_EQ(changes->kinds.size(), 2u);
  EXPECT_EQ(changes->kinds[0].kind, RowKind::kZones);
  EXPECT_EQ(changes->kinds[1].kind, RowKind::kUnits);
}

}  // namespace
}  // namespace keplerd::dbus
