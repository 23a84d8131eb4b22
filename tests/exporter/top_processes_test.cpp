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

// A host with two zones, on which processes fork, end, and come and go between two samples.
class Forks {
 public:
  explicit Forks(std::size_t count) : top_(count) {}

  // Energy and power of each zone and, under "", of all: of the rows shown and the others.
  struct Sums {
    std::map<std::string, std::int64_t> energy, power;
  };

  void tick(std::mt19937& random) {
    before_ = energies_of_rows();
    Json rows = Json::array(), removed = Json::array();
    used_.clear();
    watts_.clear();
    const auto use = [&](std::int64_t package, std::int64_t dram) {
      for (const auto& [zone, energy] : {std::pair("package", package), std::pair("dram", dram)}) {
        used_[zone] += energy;
        watts_[zone] += energy / 5;
      }
    };
    for (int i = 0; i < 3; ++i) energies_[next_pid_++] = {};
    for (auto process = energies_.begin(); process != energies_.end();) {
      if (random() % 8 == 0) {  // what it used since the last sample is in no row
        use(static_cast<std::int64_t>(random() % 5000), 5);
        removed.push_back(std::to_string(process->first) + ".100");
        process = energies_.erase(process);
        continue;
      }
      const auto package = static_cast<std::int64_t>(random() % 5000), dram = package / 7;
      use(package, dram);
      process->second.first += package;
      process->second.second += dram;
      rows.push_back(row_of(*process, package, dram));
      ++process;
    }
    for (int i = 0; i < 20; ++i) use(static_cast<std::int64_t>(random() % 100), 1);  // seen by no sample
    apply(std::move(rows), std::move(removed));
  }

  const std::map<std::string, std::int64_t>& used() const { return used_; }
  const std::map<std::string, std::int64_t>& watts() const { return watts_; }

  Sums sums() const {
    Sums sums;
    const auto add = [&sums](const std::string& zone, const Energy& energy) {
      sums.power[zone] += energy.power ? energy.power->value : 0;
    };
    std::vector<const WorkloadRow*> rows(top_.chosen().begin(), top_.chosen().end());
    rows.push_back(top_.others());
    for (const WorkloadRow* row : rows) {
      add("", row->all);
      for (const auto& [zone, energy] : row->zones) add(zone, energy);
    }
    // As rate() has it: a series counts from the first tick that has it.
    for (const auto& [id, zones] : energies_of_rows()) {
      const auto before = before_.find(id);
      for (const auto& [zone, energy] : zones) {
        if (before != before_.end()) sums.energy[zone] += energy - before->second.at(zone);
      }
    }
    return sums;
  }

 private:
  using ByZone = std::map<std::string, std::int64_t>;
  using Process = std::pair<const int, std::pair<std::int64_t, std::int64_t>>;

  static Json row_of(const Process& process, std::int64_t package, std::int64_t dram) {
    const auto& [pid, energy] = process;
    Json row = process_row(pid, energy.first + energy.second, {{"powerMicrowatts", package / 5 + dram / 5}});
    row["zones"] = Json::array(
        {{{"name", "package"}, {"energyMicrojoules", energy.first}, {"powerMicrowatts", package / 5}},
         {{"name", "dram"}, {"energyMicrojoules", energy.second}, {"powerMicrowatts", dram / 5}}});
    return row;
  }

  void apply(Json rows, Json removed) {
    snapshot_.apply(Kind::kProcesses, reply_of(std::move(rows), {{"removed", std::move(removed)}}));
    top_.take(snapshot_.processes());
    Json zones = Json::array();
    for (const char* name : {"package", "dram"}) {
      active_[name] += used_[name];
      used_[""] += used_[name];
      watts_[""] += watts_[name];
      Json zone = zone_row(name);
      zone["activeMicrojoules"] = active_[name];
      zone["activeMicrowatts"] = watts_[name];
      zones.push_back(std::move(zone));
    }
    active_[""] += used_[""];
    snapshot_.apply(
        Kind::kZones,
        reply_of(std::move(zones),
                 {{"host", {{"activeMicrojoules", active_[""]}, {"activeMicrowatts", watts_[""]}}}}));
    top_.balance(snapshot_.active());
  }

  std::map<std::string, ByZone> energies_of_rows() const {
    std::map<std::string, ByZone> energies;
    const auto add = [&energies](const std::string& id, const WorkloadRow& row) {
      energies[id][""] = row.all.energy.value;
      for (const auto& [zone, energy] : row.zones) energies[id][zone] = energy.energy.value;
    };
    for (const ProcessRow* row : top_.chosen()) add(row->id, *row);
    if (top_.others() != nullptr) add("other", *top_.others());
    return energies;
  }

  Snapshot snapshot_;
  TopProcesses top_;
  std::map<int, std::pair<std::int64_t, std::int64_t>> energies_;  // package and DRAM
  std::map<std::string, ByZone> before_;
  std::map<std::string, std::int64_t> used_, watts_, active_;
  int next_pid_ = 1;
};

TEST(TopProcesses, RowsAndOtherAreTheHostsActiveEnergyAndPowerHoweverManyAreShown) {
  for (const std::size_t count : {1u, 3u, 1000u}) {
    std::mt19937 random(5);
    Forks host(count);
    host.tick(random);
    for (int tick = 0; tick < 60; ++tick) {
      host.tick(random);
      ASSERT_EQ(host.sums().power, host.watts()) << count << " shown, tick " << tick;
      // A process that comes to be shown is of the others until then.
      ASSERT_EQ(host.sums().energy, host.used()) << count << " shown, tick " << tick;
    }
  }
}

}  // namespace
}  // namespace keplerd::exporter
