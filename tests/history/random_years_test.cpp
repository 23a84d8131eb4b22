// SPDX-License-Identifier: Apache-2.0
// More than a year with everything that happens to a host: every bucket adds up, whatever is summed up of
// what.
#include <algorithm>
#include <random>

#include "history/recorded_host.h"

namespace keplerd::history {
namespace {

using namespace std::chrono_literals;

constexpr int kUnits = 6;

class RandomYears : public RecordedHost, public testing::WithParamInterface<const char*> {
 protected:
  int pick(int least, int most) { return std::uniform_int_distribution(least, most)(random_); }

  void draw_at_random() {
    const auto draw_in = [&](Microjoules& counter, int most) {
      const Microjoules drawn{pick(0, most)};
      counter += drawn;
      expected_ += drawn.value;
    };
    draw_in(accounts.idle, 10'000);
    draw_in(accounts.kernel, 500);
    draw_in(accounts.unattributed, 5);
    const int unit = pick(0, kUnits - 1);
    const std::string id = "/u" + std::to_string(unit) + ".service";
    const auto before = accounts.workloads;
    draw_in(accounts.workloads, 3000);
    workload(Kind::kUnits, id).now.active += accounts.workloads - before;
  }

  // The host stops without warning: keplerd continues from what it saved last.
  void crash() {
    expected_ -= (accounts.energy() - std::max(saved_.energy(), read_.energy())).value;
    accounts = earlier = saved_;
    for (auto it = workloads.begin(); it != workloads.end();) {
      const auto saved = saved_workloads_.find(it->first);
      if (saved == saved_workloads_.end()) {
        it = workloads.erase(it);
      } else {
        it->second.now = it->second.earlier = saved->second;
        ++it;
      }
    }
    instance += "'";
  }
  void save() {
    saved_ = accounts;
    saved_workloads_.clear();
    for (const auto& [key, one] : workloads) saved_workloads_[key] = one.now;
  }
  void read_now() {
    read();
    read_ = accounts;
  }

  // Each span that is made of others is their sum.
  void expect_sums() {
    EXPECT_EQ(
        count("SELECT count(*) FROM spans AS whole WHERE EXISTS (SELECT 1 FROM spans WHERE part_of = "
              "whole.number) "
              "AND (idle, kernel, workloads, unattributed, recorded) <> (SELECT sum(idle), sum(kernel), "
              "sum(workloads), sum(unattributed), sum(recorded) FROM spans WHERE part_of = whole.number)"),
        0);
    std::map<std::int64_t, Energies> of_parts;
    Statement spans = recorder->store().database().prepare("SELECT number, part_of, workloads FROM spans");
    while (spans.step()) {
      const Energies energies = energies_of(spans.integer(0));
      std::int64_t sum = 0;
      for (const auto& [workload, amounts] : energies) sum += amounts.energy().value;
      EXPECT_EQ(sum, spans.integer(2)) << "the units are all that runs";
      if (const auto whole = spans.optional_integer(1)) {
        for (const auto& [workload, amounts] : energies) of_parts[*whole][workload] += amounts;
      }
    }
    for (const auto& [whole, energies] : of_parts) EXPECT_EQ(energies_of(whole), energies);
    EXPECT_EQ(count("SELECT count(*) FROM spans JOIN spans AS whole ON whole.number = spans.part_of "
                    "WHERE spans.begin < whole.begin OR spans.end > whole.end OR spans.step >= whole.step"),
              0);
  }

  std::mt19937 random_{1};

  std::int64_t expected_ = 0;  // what is to be in the database, when all is written
  Accounts saved_, read_;
  std::map<WorkloadKey, Amounts> saved_workloads_;
};

TEST_P(RandomYears, EachSpanIsTheSumOfItsPartsAndAllOfThemAreTheHost) {
  TimeZone::set(GetParam());
  settings.five_minutes = settings.hours = settings.days = 24h * 3000;
  open();
  now = utc("2027-12-20 00:00");
  const Time begin = now;
  read_now();
  while (now < utc("2028-11-10 00:00")) {
    // Mostly minutes in some hours, and long steps between.
    const int kind = pick(0, 999);
    now += kind < 700 ? Time(60s) : kind < 900 ? Time(pick(1, 300) * 1s) : Time(pick(1, 4 * 3600) * 1s);
    if (kind == 999) now += 24h * pick(1, 40);
    draw_at_random();
    const int event = pick(0, 199);
    if (event < 10) save();
    if (event == 10) crash();
    if (event == 11) now -= 20min;  // the clock is set
    if (event == 12) TimeZone::set(pick(0, 1) == 0 ? GetParam() : "UTC0");
    read_now();
    if (event == 14) recorder->flush();
    if (event >= 15 && event < 18) open();  // it was killed
    if (event >= 15 && event < 18) read_now();
  }
  recorder->flush();
  EXPECT_EQ(summary({begin - 24h, now + 24h * 60}).accounts.energy().value, expected_);
  expect_sums();
}

INSTANTIATE_TEST_SUITE_P(In, RandomYears, testing::Values("UTC0", kBerlin, kLordHowe, kKolkata));

}  // namespace
}  // namespace keplerd::history
