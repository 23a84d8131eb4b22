// SPDX-License-Identifier: Apache-2.0
// Dividing by what was learned, from the files of a host to the rows: in force, with errors, across restarts
// and reloads. Every report's sums hold (MeterHost checks them).
#include <filesystem>
#include <random>

#include <gtest/gtest.h>

#include "daemon/access/public_view.h"
#include "daemon/meter_host.h"
#include "daemon/older_state.h"
#include "daemon/publish/report_json.h"
#include "daemon/row_json.h"
#include "daemon/state_keeper.h"
#include "varlink/json.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

// Two CPUs; 10 W idle; /a.service draws 4 W a CPU and /b.service 12 W.
class LearnedMeter : public testing::Test {
 protected:
  LearnedMeter() {
    host.files.write("proc/cpuinfo", "vendor_id\t: GenuineIntel\nmodel name\t: One\n\n");
    host.files.add_cgroup("/a.service", 0);
    host.files.add_cgroup("/b.service", 0);
    host.files.add_process({.pid = 10, .cgroup = "/a.service"});
    host.cpus.resize(2);
    directory = std::filesystem::temp_directory_path() / ("keplerd-learned-" + std::to_string(::getpid()));
    std::filesystem::create_directory(directory);
  }
  ~LearnedMeter() override { std::filesystem::remove_all(directory); }

  StateKeeper keeper() {
    return StateKeeper(host.files.open(), StateDirectory{directory, nullptr}, EnergySettings{});
  }

  void begin(const ModelRules& rules = {}) {
    auto restored = keeper().restore(std::chrono::duration_cast<Realtime>(host.now.realtime));
    host.begin({}, std::move(restored.ledger), restored.readings);
    host.meter().set_model(make_model(rules));
    host.meter().restore_models(std::move(restored.models));
  }

  // A second in which each ran for so many hundredths of it.
  const Report& run(int of_a, int of_b) {
    a_usage += of_a * 10'000;
    b_usage += of_b * 10'000;
    host.files.set_cgroup_usage("/a.service", a_usage);
    host.files.set_cgroup_usage("/b.service", b_usage);
    host.files.set_process_time(10, a_usage / 10'000);
    host.cpus[0].user += of_a;
    host.cpus[0].idle += 100 - of_a;
    host.cpus[1].user += of_b;
    host.cpus[1].idle += 100 - of_b;
    host.draw(10'000'000 + 40'000 * of_a + 120'000 * of_b, 1'000'000);
    return host.step();
  }

  void learn(int windows) {
    std::uniform_int_distribution<int> use(5, 100);
    for (int i = 0; i < windows; ++i) run(i < 60 ? 1 : use(random), i < 60 ? 1 : use(random));
  }

  const ZoneModelState& model() {
    for (const ZoneModelState& zone : host.meter().report()->models)
      if (zone.zone == "powercap:package:0") return zone;
    throw std::runtime_error("no model");
  }

  MeterHost host;
  std::filesystem::path directory;
  std::mt19937 random{1};
  std::int64_t a_usage = 0, b_usage = 0;
};

TEST_F(LearnedMeter, IsInForceAndRightWithErrorsThatHoldTheTruth) {
  begin();
  learn(900);
  const Microjoules a_before = host.unit("/a.service").active, b_before = host.unit("/b.service").active;
  const Microjoules a_error = *host.unit("/a.service").error, b_error = *host.unit("/b.service").error;
  const Report& report = run(80, 80);
  EXPECT_EQ(report.rules, (RulesInForce{"baseline", "learned"}));
  EXPECT_EQ(report.accounts.kernel, Microjoules{});
  EXPECT_NEAR(static_cast<double>(report.zones[0].idle_power->value) / 1e6, 10, 0.7);
  const double a = static_cast<double>((host.unit("/a.service").active - a_before).value) / 1e6;
  const double b = static_cast<double>((host.unit("/b.service").active - b_before).value) / 1e6;
  const double of_memory = 1;  // J: its power says nothing of who used it
  EXPECT_LE(std::abs(a - 3.2),
            static_cast<double>((*host.unit("/a.service").error - a_error).value) / 1e6 + of_memory);
  EXPECT_LE(std::abs(b - 9.6),
            static_cast<double>((*host.unit("/b.service").error - b_error).value) / 1e6 + of_memory);
  EXPECT_EQ(host.process(10)->active, host.unit("/a.service").active);
  EXPECT_EQ(host.process(10)->error, host.unit("/a.service").error) << "it is alone in its unit";
}

TEST_F(LearnedMeter, TheBusyShareIsThatOfCpuTimeAndNotOfEnergy) {
  begin();
  learn(100);
  const auto status = status_json(run(20, 60), Settings{});
  EXPECT_EQ(status["split"], "baseline");
  EXPECT_EQ(status["host"]["windowCpuUsec"], 1'000'000);
  EXPECT_EQ(status["host"]["windowBusyUsec"], 500'000) << "by the line \"cpu\"";
  EXPECT_LT(status["host"]["activeMicrowatts"].get<double>(),
            0.47 * status["host"]["powerMicrowatts"].get<double>());
}

TEST_F(LearnedMeter, TheBusyShareIsAbsentInTheFirstSample) {
  begin();
  const auto status = status_json(*host.meter().report(), Settings{});
  EXPECT_FALSE(status["host"].contains("windowCpuUsec"));
  EXPECT_FALSE(status["host"].contains("windowBusyUsec"));
}

TEST_F(LearnedMeter, FiguresAndErrorsAreForFullAccessOnly) {
  begin();
  learn(100);
  const auto all = status_json(*host.meter().report(), Settings{});
  EXPECT_EQ(all["split"], "baseline");
  EXPECT_EQ(all["zones"][1]["id"], "powercap:package:0");
  EXPECT_EQ(all["zones"][1]["model"]["state"], "base");
  EXPECT_GT(all["zones"][1]["model"]["idleMicrowatts"], 0);
  const auto rows = row_json(host.view(), RowKind::kUnits, 0);
  EXPECT_TRUE(rows.contains("errorMicrojoules"));
  EXPECT_TRUE(rows.contains("errorPercent"));
  const PublicTick tick{.now = host.view(), .before = {}, .energies = {}, .energies_before = {}};
  const ReportView view{public_report(tick, PublicAccess::kHost, 1000), nullptr};
  const auto some = status_json(*view.report, Settings{});
  EXPECT_EQ(some["split"], "baseline");
  EXPECT_EQ(some["zones"][1]["model"].dump(), R"({"state":"base"})");
}

TEST_F(LearnedMeter, WhatWasLearnedOutlivesARestart) {
  begin();
  learn(600);
  const Microwatts idle = model().figures->idle;
  const Microjoules error = *host.unit("/b.service").error;
  keeper().save(host.meter().state(), true);
  begin();
  run(50, 50);
  run(50, 50);
  EXPECT_EQ(model().knowledge, IdleKnowledge::kBase);
  EXPECT_NEAR(static_cast<double>(model().figures->idle.value), static_cast<double>(idle.value), 2e5);
  EXPECT_GE(*host.unit("/b.service").error, error);
}

TEST_F(LearnedMeter, ItIsDroppedOnAnotherProcessor) {
  begin();
  learn(600);
  keeper().save(host.meter().state(), true);
  host.files.write("proc/cpuinfo", "vendor_id\t: GenuineIntel\nmodel name\t: Two\n\n");
  begin();
  run(50, 50);
  run(50, 50);
  EXPECT_EQ(model().knowledge, IdleKnowledge::kLearning);
}

TEST_F(LearnedMeter, AMonthLaterTheIdlePowerIsAged) {
  begin();
  learn(600);
  keeper().save(host.meter().state(), true);
  host.now.realtime += std::chrono::hours(31 * 24);
  begin();
  run(50, 50);
  run(50, 50);
  EXPECT_EQ(model().knowledge, IdleKnowledge::kAged);
}

TEST_F(LearnedMeter, ARuleThatIsSwitchedOffAndOnAgainGoesOn) {
  begin();
  learn(300);
  host.meter().set_model(make_model(kKeplerRules));
  const Report& kepler = run(50, 50);
  EXPECT_EQ(kepler.rules, RulesInForce{});
  EXPECT_TRUE(kepler.models.empty());
  EXPECT_EQ(host.unit("/a.service").error, std::nullopt);
  const LedgerState state = host.meter().state();
  EXPECT_EQ(state.models.zones.size(), 2U) << "saved all the same";
  host.meter().set_model(make_model({}));
  run(50, 50);
  run(50, 50);
  EXPECT_EQ(model().knowledge, IdleKnowledge::kBase);
}

TEST_F(LearnedMeter, EnergyOfUnknownErrorCountsInFull) {
  begin(kKeplerRules);
  run(50, 50);
  run(50, 50);
  const Microjoules energy = host.unit("/a.service").active;
  host.meter().set_model(make_model({}));
  run(0, 50);
  run(0, 50);
  EXPECT_EQ(host.unit("/a.service").error, energy);
}

TEST_F(LearnedMeter, AStateFromBeforeErrorsCountsAllAsUnknown) {
  begin(kKeplerRules);
  run(50, 50);
  const std::string text = format_state(host.meter().state());
  const auto state = parse_state(without(text, "\"errorMicrojoules\":", ","));
  ASSERT_TRUE(state) << state.error().message;
  ASSERT_EQ(state->units[0].id, "/a.service");
  EXPECT_EQ(state->units[0].error, host.unit("/a.service").active);
}

TEST_F(LearnedMeter, WhatIsKnownOfAnIdlePowerThatWasNeverSeenIsSaved) {
  begin();
  learn(100);
  auto state = host.meter().state();
  state.models.zones.at(0).memory.unseen = {
      .learned = 9.5, .pooled = -1.5, .least_load = 0.25, .windows = 900};
  const std::string text = format_state(state);
  const auto read = parse_state(text);
  ASSERT_TRUE(read);
  const ZonePower::Unseen& unseen = read->models.zones.at(0).memory.unseen;
  EXPECT_EQ(unseen.learned, 9.5);
  EXPECT_EQ(unseen.pooled, -1.5);
  EXPECT_EQ(unseen.least_load, 0.25);
  EXPECT_EQ(unseen.windows, 900U);
  // As the first release has written it.
  const auto old = parse_state(without(text, ",\"unseenIdle\":", "}"));
  ASSERT_TRUE(old);
  ASSERT_EQ(old->models.zones.size(), 2U);
  EXPECT_EQ(old->models.zones[0].memory.unseen.windows, 0U);
}

TEST_F(LearnedMeter, HowTheFrequencyFollowsTheLoadIsSaved) {
  begin();
  learn(100);
  auto state = host.meter().state();
  state.models.zones.at(0).memory.frequency = {.reference_khz = 3e6,
                                               .first_spread = 0.5,
                                               .first_filled = 0.625,
                                               .value = {-0.25, 0.125, -0.5},
                                               .variance = {0.5, 0.25, 0.375}};
  const std::string text = format_state(state);
  const auto read = parse_state(text);
  ASSERT_TRUE(read);
  const FrequencyTrend::Memory& frequency = read->models.zones.at(0).memory.frequency;
  EXPECT_EQ(frequency.reference_khz, 3e6);
  EXPECT_EQ(frequency.first_spread, 0.5);
  EXPECT_EQ(frequency.first_filled, 0.625);
  EXPECT_THAT(frequency.value, testing::ElementsAre(-0.25, 0.125, -0.5));
  EXPECT_THAT(frequency.variance, testing::ElementsAre(0.5, 0.25, 0.375));
  // As earlier versions have written it: compared with a mean, and before that, not at all.
  for (const std::string& earlier :
       {without(text, "\"referenceKHz\":", ","), without(text, "\"frequency\":{", "},")}) {
    const auto old = parse_state(earlier);
    ASSERT_TRUE(old);
    ASSERT_EQ(old->models.zones.size(), 2U);
    EXPECT_EQ(old->models.zones[0].memory.frequency.reference_khz, 0);
  }
}

TEST_F(LearnedMeter, AMalformedModelCostsNoTotals) {
  begin();
  learn(100);
  std::string text = format_state(host.meter().state());
  const auto good = parse_state(text);
  ASSERT_TRUE(good);
  EXPECT_EQ(good->models.zones.size(), 2U);
  const auto at = text.find("\"ageSec\":");
  text.replace(at, text.find(',', at) - at, "\"ageSec\":-1");
  const auto state = parse_state(text);
  ASSERT_TRUE(state) << state.error().message;
  EXPECT_TRUE(state->models.zones.empty());
  EXPECT_EQ(state->units.size(), good->units.size());
}

}  // namespace
}  // namespace keplerd
