// SPDX-License-Identifier: Apache-2.0
#include "exporter/top_processes.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporter/sample_replies.h"

namespace keplerd::exporter {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

class Board {
 public:
  explicit Board(std::size_t count) : top(count) {}

  // The host's active energy grows by the increase of the rows, and by what no sample saw.
  void tick(Json rows, Json removed = Json::array(), std::int64_t unseen = 0) {
    std::int64_t power = unseen / 2;
    for (const Json& row : rows) {
      std::int64_t& known = energies_[row.at("id")];
      active_ += row.at("energyMicrojoules").get<std::int64_t>() - known;
      known = row.at("energyMicrojoules");
    }
    active_ += unseen;
    snapshot.apply(Kind::kProcesses, reply_of(std::move(rows), {{"removed", std::move(removed)}}));
    for (const auto& [id, row] : snapshot.processes()) power += row.all.power->value;
    top.take(snapshot.processes());
    Json zone = zone_row("package");
    zone["activeMicrojoules"] = active_;
    zone["activeMicrowatts"] = power;
    snapshot.apply(Kind::kZones, reply_of({zone}, {{"host",
                                                    {{"energyMicrojoules", active_},
                                                     {"activeMicrojoules", active_},
                                                     {"activeMicrowatts", power}}}}));
    top.balance(snapshot.active());
  }
  std::vector<std::string> shown() const {
    std::vector<std::string> ids;
    for (const ProcessRow* row : top.chosen()) ids.push_back(row->id);
    return ids;
  }
  std::int64_t others() const { return top.others()->all.energy.value; }

  Snapshot snapshot;
  TopProcesses top;

 private:
  std::map<std::string, std::int64_t> energies_;
  std::int64_t active_ = 0;
};

TEST(TopProcesses, ShowsThoseThatUsedMostLately) {
  Board board(2);
  board.tick({process_row(1, 1000), process_row(2, 100), process_row(3, 10)});
  EXPECT_THAT(board.shown(), ElementsAre("1.100", "2.100"))
      << "nothing is known of lately: by all of their energy";
  board.tick({process_row(3, 2010), process_row(2, 200)});
  EXPECT_THAT(board.shown(), ElementsAre("3.100", "2.100"));
  for (int i = 0; i < 3; ++i) board.tick({process_row(1, 1200 + i * 200)});
  EXPECT_THAT(board.shown(), ElementsAre("3.100", "1.100"))
      << "2000 of three ticks ago is still more than 600";
  for (int i = 0; i < 20; ++i) board.tick({process_row(1, 1800 + i * 200)});
  EXPECT_THAT(board.shown(), ElementsAre("1.100", "3.100"));
}

TEST(TopProcesses, CountsWhatOthersUseFromItsOwnBeginningOn) {
  Board board(1);
  board.tick({process_row(1, 1000), process_row(2, 100), process_row(3, 10)});
  EXPECT_EQ(board.others(), 0);
  board.tick({process_row(1, 2000), process_row(2, 103), process_row(3, 14)});
  EXPECT_EQ(board.others(), 7);
  board.tick({process_row(4, 20)});
  EXPECT_EQ(board.others(), 27) << "all of one that is new";
  EXPECT_EQ(board.top.others()->zones.at("package").energy.value, 27);
}

TEST(TopProcesses, AProcessThatBecomesShownTakesNothingAway) {
  Board board(1);
  board.tick({process_row(1, 1000), process_row(2, 0)});
  board.tick({process_row(1, 1005), process_row(2, 900)});
  ASSERT_THAT(board.shown(), ElementsAre("2.100"));
  EXPECT_EQ(board.others(), 905) << "of 1, which is not shown any more, and of 2, which was not before";
  board.tick({process_row(2, 1900)});
  EXPECT_EQ(board.others(), 905);
}

TEST(TopProcesses, PowerOfTheOthersIsOfThisTick) {
  Board board(1);
  board.tick({process_row(1, 1000), process_row(2, 100), process_row(3, 10)});
  EXPECT_EQ(board.top.others()->all.power->value, 55);
  EXPECT_EQ(board.top.others()->zones.at("package").power->value, 55);
  board.tick(Json::array(), {"2.100", "3.100"});
  EXPECT_EQ(board.top.others()->all.power->value, 0);
}

// Most of a fork storm is in units only.
TEST(TopProcesses, WhatNoSampleSawIsOfTheOthers) {
  Board board(5);
  board.tick({process_row(1, 1000), process_row(2, 100)});
  board.tick({process_row(1, 1500)}, Json::array(), 70);
  EXPECT_EQ(board.others(), 70);
  EXPECT_EQ(board.top.others()->zones.at("package").energy.value, 70);
  EXPECT_EQ(board.top.others()->all.power->value, 35);
  EXPECT_EQ(board.top.others()->zones.at("package").power->value, 35);
}

TEST(TopProcesses, WithoutPowerOfTheHostTheOthersHaveNone) {
  Board board(1);
  board.tick({process_row(1, 1000)});
  EnergyByZone active = board.snapshot.active();
  active.all.power.reset();
  for (auto& [zone, energy] : active.zones) energy.power.reset();
  board.top.balance(active);
  EXPECT_FALSE(board.top.others()->all.power);
  EXPECT_FALSE(board.top.others()->zones.at("package").power);
}

TEST(TopProcesses, AZoneThatAppearsCountsFromThen) {
  Board board(1);
  board.tick({process_row(1, 1000)});
  EnergyByZone active = board.snapshot.active();
  active.zones["dram"].energy = Microjoules{5000};
  board.top.balance(active);
  active.zones["dram"].energy = Microjoules{5600};
  board.top.balance(active);
  EXPECT_EQ(board.top.others()->zones.at("dram").energy.value, 600);
}

TEST(TopProcesses, AreBalancedWithTheHostOfTheSameSample) {
  Snapshot snapshot;
  snapshot.apply(Kind::kZones, reply_of({zone_row("package")}, {{"sequence", 8}}));
  EXPECT_FALSE(snapshot.are_processes_current());
  snapshot.apply(Kind::kProcesses, reply_of({process_row(1, 1000)}, {{"sequence", 7}}));
  EXPECT_FALSE(snapshot.are_processes_current());
  snapshot.apply(Kind::kProcesses, reply_of({process_row(1, 1000)}, {{"sequence", 8}}));
  EXPECT_TRUE(snapshot.are_processes_current());
}

TEST(TopProcesses, OfOnePidShowsTheOneThatRuns) {
  Board board(5);
  Json ended = process_row(7, 1'000'000, {{"state", "terminated"}});
  Json again = process_row(7, 5);
  again["id"] = "7.200";
  board.tick({ended, again});
  EXPECT_THAT(board.shown(), ElementsAre("7.200"));
}

TEST(TopProcesses, AfterALossItBeginsWithWhatThereIsAndKeepsItsCounter) {
  Board board(1);
  board.tick({process_row(1, 1000), process_row(2, 100)});
  board.tick({process_row(2, 150)});
  EXPECT_EQ(board.others(), 50);
  board.top.forget();
  EXPECT_TRUE(board.shown().empty());
  board.tick({process_row(2, 900)});
  EXPECT_EQ(board.others(), 50) << "nobody knows when it was used";
}

TEST(TopProcesses, ShowsNoneWhereNoneIsWanted) {
  Board board(0);
  board.tick({process_row(1, 1000)});
  board.tick({process_row(1, 1500)});
  EXPECT_TRUE(board.shown().empty());
  EXPECT_EQ(board.others(), 500);
}

// The growth of those shown at both ticks, and of the others, adds up to what the host used.
TEST(TopProcesses, NothingIsLostOrCountedTwiceWhateverHappens) {
  std::mt19937 random(8);
  Board board(3);
  std::map<int, std::int64_t> energy;
  std::map<std::string, std::int64_t> seen;
  std::int64_t others = 0;
  board.tick(Json::array());
  for (int round = 0; round < 500; ++round) {
    std::int64_t used = 0, grown = 0;
    Json rows = Json::array();
    for (int pid = 1; pid < 12; ++pid) {
      if (random() % 3 == 0) continue;
      const auto more = static_cast<std::int64_t>(random() % 1000);
      energy[pid] += more;
      used += more;
      rows.push_back(process_row(pid, energy[pid]));
    }
    const auto unseen = static_cast<std::int64_t>(random() % 1000);
    board.tick(std::move(rows), Json::array(), unseen);
    std::map<std::string, std::int64_t> now;
    for (const ProcessRow* row : board.top.chosen()) now[row->id] = row->all.energy.value;
    for (const auto& [id, value] : now) {
      if (seen.contains(id)) grown += value - seen.at(id);
    }
    grown += board.others() - others;
    ASSERT_EQ(grown, used + unseen) << round;
    seen = now;
    others = board.others();
  }
}

}  // namespace
}  // namespace keplerd::exporter
