// SPDX-License-Identifier: Apache-2.0
#include "history/store/store.h"

#include <fstream>

#include <gmock/gmock.h>

#include "history/recorded_host.h"

namespace keplerd::history {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class StoreTest : public RecordedHost {
 protected:
  // Whole hours, each of which the unit uses 60 x 100 uJ in, and the host 60 x 1000 when idle.
  void run_hours(int count) {
    for (int hour = 0; hour < count; ++hour) {
      for (int i = 0; i < 12; ++i) {
        now += 5min;
        draw("/a.service", 500);
        draw_idle(5000);
        read();
      }
    }
  }
  std::int64_t count_of(Step step) {
    return count("SELECT count(*) FROM spans WHERE step = " + std::to_string(static_cast<int>(step)));
  }
};

const Time kNoon = utc("2026-11-24 12:00");

TEST_F(StoreTest, HoursDaysAndMonthsAreTheSumsOfWhatIsInThem) {
  now = utc("2026-11-30 00:00");
  read();
  run_hours(25);
  EXPECT_EQ(count_of(Step::kHour), 25);
  EXPECT_EQ(count_of(Step::kDay), 1);
  EXPECT_EQ(count_of(Step::kMonth), 1);
  const auto sums = [&](const char* sql) { return count(sql); };
  EXPECT_EQ(sums("SELECT min(idle) FROM spans WHERE step = 2"), 60'000);
  EXPECT_EQ(sums("SELECT idle FROM spans WHERE step = 3"), 24 * 60'000);
  EXPECT_EQ(sums("SELECT recorded FROM spans WHERE step = 4"), Time(24h).count());
  EXPECT_EQ(energies_of(sums("SELECT number FROM spans WHERE step = 4")).at(1).active.value, 24 * 6'000);
}

TEST_F(StoreTest, APeriodHasTheSameEnergyWhateverSpansItIsMadeOf) {
  read();
  run_hours(40);
  std::int64_t hours = 0;
  for (Time at = kNoon; at < now; at += 1h) hours += summary({at, at + 1h}).accounts.energy().value;
  EXPECT_EQ(hours, 40 * 66'000);
  EXPECT_EQ(summary({kNoon, now}).accounts.energy().value, hours);
  EXPECT_EQ(summary({kNoon + 25min, now - 35min}).accounts.energy().value, hours - 66'000);
  EXPECT_THAT(energy({kNoon + 25min, now - 35min}), ElementsAre(Pair("/a.service", 39 * 6'000)));
}

TEST_F(StoreTest, IsKeptAsLongAsConfigured) {
  settings.five_minutes = 2h;
  settings.hours = 48h;
  settings.days = 24h * 40;
  open();
  now = utc("2026-11-01 00:00");
  read();
  run_hours(24 * 45);
  EXPECT_EQ(count_of(Step::kFiveMinutes), 24);
  EXPECT_EQ(count_of(Step::kHour), 48);
  EXPECT_EQ(count_of(Step::kDay), 40);
  EXPECT_EQ(count_of(Step::kMonth), 1);
  EXPECT_EQ(summary({utc("2026-11-01 00:00"), now}).accounts.idle.value, std::int64_t{24} * 45 * 60'000)
      << "nothing is lost by it";
  EXPECT_EQ(count("SELECT count(*) FROM energies WHERE span NOT IN (SELECT number FROM spans)"), 0);
}

TEST_F(StoreTest, ASpanIsKeptAsLongAsWhatItIsMadeOf) {
  settings.hours = 24h * 60;
  settings.days = 48h;
  open();
  now = utc("2026-11-01 00:00");
  read();
  run_hours(24 * 45);
  EXPECT_EQ(summary({utc("2026-11-01 00:00"), now}).accounts.idle.value, std::int64_t{24} * 45 * 60'000)
      << "nothing is counted twice";
  EXPECT_EQ(count("SELECT count(*) FROM spans WHERE part_of NOT IN (SELECT number FROM spans)"), 0);
}

TEST_F(StoreTest, WorkloadsThatDrewHardlyAnythingAreNotListedInHoursAndForgottenWithTheirFiveMinutes) {
  settings.min_energy = {1000};
  settings.five_minutes = 2h;
  open();
  read();
  run_hours(1);
  draw("/small.service", 999);
  run_hours(1);
  workloads.erase({Kind::kUnits, "/small.service", 0});
  EXPECT_THAT(energy({kNoon + 1h, kNoon + 2h}), ElementsAre(Pair("/a.service", 6'000)));
  EXPECT_THAT(energy({kNoon + 1h, kNoon + 65min}),
              ElementsAre(Pair("/a.service", 500), Pair("/small.service", 999)));
  EXPECT_EQ(summary({kNoon + 1h, kNoon + 2h}).accounts.workloads, Microjoules{6'999}) << "it is in the host";
  run_hours(4);
  EXPECT_EQ(count("SELECT count(*) FROM workloads"), 1);
}

TEST_F(StoreTest, AnInterruptionIsPartOfTheShortestSpanThatContainsIt) {
  read();
  run_hours(1);
  now += 30min;
  draw_idle(7);
  read();  // inside an hour
  now += 3h;
  draw_idle(70);
  read();  // inside a day
  now += 12h;
  draw_idle(700);
  read();  // inside a month
  now += 8 * 24h;
  draw_idle(7000);
  read();  // in two months
  run_hours(24 * 40);
  const auto step_of = [&](int idle) {
    return count(
        "SELECT longer.step FROM spans JOIN spans AS longer ON longer.number = spans.part_of "
        "WHERE spans.step = 0 AND spans.idle = " +
        std::to_string(idle));
  };
  EXPECT_EQ(step_of(7), 2);
  EXPECT_EQ(step_of(70), 3);
  EXPECT_EQ(step_of(700), 4);
  EXPECT_EQ(count("SELECT part_of IS NULL FROM spans WHERE idle = 7000"), 1);
  EXPECT_EQ(summary({kNoon, now}).accounts.idle.value, 60'000 + 7777 + std::int64_t{24} * 40 * 60'000);
}

TEST_F(StoreTest, ADamagedFileIsKeptAndANewOneIsBegun) {
  read();
  run_hours(3);
  recorder.reset();
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary)
      .seekp(4096)
      .write(std::string(8000, 'x').data(), 8000);
  open();
  EXPECT_EQ(set_aside, path + ".damaged-" + std::to_string(now / 1s));
  EXPECT_TRUE(std::filesystem::exists(set_aside));
  EXPECT_FALSE(recorder->store().baseline());
  EXPECT_EQ(count("SELECT count(*) FROM spans"), 0);
}

TEST_F(StoreTest, AFileThatIsNoDatabaseIsKept) {
  recorder.reset();
  std::filesystem::remove(path);
  std::ofstream(path)
      << "this is not a database, but a text that is long enough for its header, which has 100 bytes";
  open();
  EXPECT_THAT(set_aside, HasSubstr(".damaged-"));
}

TEST_F(StoreTest, ALaterSchemaIsRefused) {
  recorder->store().database().run("PRAGMA user_version = 99");
  recorder.reset();
  const auto opened = Store::open(path, settings, now);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message,
              HasSubstr("written by a later version of keplerd-history (schema 99, supported: 3)"));
  EXPECT_TRUE(std::filesystem::exists(path)) << "it is not set aside";
}

// What earlier versions left out, and how they kept energy.
TEST_F(StoreTest, EarlierSchemasAreConverted) {
  read();
  run_hours(3);
  const Span all{kNoon, now};
  const auto before = energy(all);
  for (int version : {2, 1}) {
    Database& database = recorder->store().database();
    database.run(
        "CREATE TABLE energy (span INTEGER NOT NULL, workload INTEGER NOT NULL, active INTEGER NOT NULL, "
        "idle INTEGER NOT NULL, PRIMARY KEY (span, workload)) WITHOUT ROWID");
    Statement spans = database.prepare("SELECT number FROM spans");
    Statement insert = database.prepare("INSERT INTO energy VALUES (?1, ?2, ?3, ?4)");
    while (spans.step()) {
      for (const auto& [workload, amounts] : energies_of(spans.integer(0)))
        insert.bind(spans.integer(0), workload, amounts.active.value, amounts.idle.value).run();
    }
    database.run(
        "DROP INDEX workloads_by_name; ALTER TABLE workloads DROP COLUMN project_id; DROP TABLE energies");
    if (version == 1) database.run("DROP TABLE crossings; ALTER TABLE workloads DROP COLUMN project");
    database.run("PRAGMA user_version = " + std::to_string(version));
    open();
    EXPECT_EQ(set_aside, "");
    EXPECT_EQ(count("PRAGMA user_version"), 3);
    EXPECT_EQ(count("SELECT count(*) FROM crossings"), 0);
    EXPECT_EQ(summary(all).accounts.energy(), Microjoules{3 * 66'000}) << "nothing is lost by it";
    EXPECT_EQ(energy(all), before);
  }
}

TEST_F(StoreTest, TheBaselineIsThatOfTheLastWrite) {
  workload(Kind::kVms, "web", {}).now = {{20}, {3}};
  draw("/a.service", 10);
  read();
  open();
  const auto& baseline = recorder->store().baseline();
  ASSERT_TRUE(baseline);
  EXPECT_EQ(baseline->time, now);
  EXPECT_EQ(baseline->instance, "i");
  EXPECT_EQ(baseline->accounts, accounts);
  EXPECT_EQ(baseline->counters.size(), 2u);
  EXPECT_EQ(baseline->counters.at({Kind::kVms, "web", {}}).amounts, (Amounts{{20}, {3}}));
}

}  // namespace
}  // namespace keplerd::history
