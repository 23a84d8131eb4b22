// SPDX-License-Identifier: Apache-2.0
// Kepler's numbers (tests/vectors/kepler.json), and where keplerd differs on purpose.
#include "support/vectors.h"

#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "attribution/invariants.h"
#include "attribution/make_model.h"
#include "attribution/number_host.h"
#include "attribution/split.h"
#include "usage/process_stat.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

Microjoules joules(const json& value) {
  return {static_cast<std::int64_t>(std::llround(value.get<double>() * 1e6))};
}

Microwatts watts(const json& value) { return {joules(value).value}; }

Nanoseconds seconds(const json& value) { return Nanoseconds(std::llround(value.get<double>() * 1e9)); }

// Ticks of a host that is busy for the fraction `usage` of the time.
void run_at(NumberHost& host, double usage) {
  constexpr std::int64_t kTotal = 3000;
  const auto busy = std::llround(usage * kTotal);
  host.run_ticks(busy, kTotal - busy);
}

TEST(KeplerVectors, EnergyDelta) {
  for (const json& entry : kepler_vectors()["energy_delta_joules"]) {
    SCOPED_TRACE(entry.dump());
    EXPECT_EQ(counter_delta(joules(entry["previous"]), joules(entry["current"]), joules(entry["max"])),
              joules(entry["delta"]));
  }
}

// Kepler's first value, 0 W, stands for none.
TEST(KeplerVectors, NodePower) {
  for (const json& entry : kepler_vectors()["node_power"]) {
    SCOPED_TRACE(entry.dump());
    for (std::size_t i = 1; i < entry["t_s"].size(); ++i) {
      const Microjoules delta =
          counter_delta(joules(entry["reads_j"][i - 1]), joules(entry["reads_j"][i]), joules(entry["max_j"]));
      EXPECT_EQ(mean_power(delta, seconds(entry["t_s"][i]) - seconds(entry["t_s"][i - 1])),
                watts(entry["watts"][i]));
    }
  }
}

TEST(KeplerVectors, ActiveAndIdle) {
  int checked = 0;
  for (const json& entry : kepler_vectors()["active_idle"]) {
    if (!entry.contains("delta_j")) continue;
    SCOPED_TRACE(entry.dump());
    NumberHost host;
    Attributor attributor{make_model(kKeplerRules)};
    attributor.set_zones(host.zones());
    attributor.attribute(host.sample());
    run_at(host, entry["usage"]);
    host.draw(joules(entry["delta_j"]));
    host.run(host.add_process(), 1s);
    const Sample sample = host.sample();
    const Attribution& result = attributor.attribute(sample);
    expect_invariants(result, sample, {joules(entry["delta_j"])});
    EXPECT_EQ(result.zones[0].idle, joules(entry["idle_j"]));
    EXPECT_EQ(result.zones[0].process[0], joules(entry["active_j"]));
    ++checked;
  }
  EXPECT_EQ(checked, 3);
}

// Totals over several windows; Kepler books the first reading (energy since boot), keplerd does not.
TEST(KeplerVectors, ActiveAndIdleTotalsLessTheFirstReading) {
  const Microjoules range = package_zone().range;
  NumberHost host;
  Attributor attributor{make_model(kKeplerRules)};
  attributor.set_zones(host.zones());
  const int process = host.add_process();
  Microjoules active, idle;
  std::int64_t last = 0;
  for (const std::int64_t counter : {100, 150, 190}) {
    run_at(host, 0.6);
    host.run(process, 1s);
    host.set_counter({counter * 1'000'000});
    const Sample sample = host.sample();
    const Attribution& result = attributor.attribute(sample);
    expect_invariants(result, sample,
                      {last == 0 ? Microjoules{} : Microjoules{(counter - last) * 1'000'000}});
    idle += result.zones[0].idle;
    active += result.zones[0].process[0];
    last = counter;
  }
  ASSERT_GT(range, Microjoules{});
  EXPECT_EQ(active, Microjoules{(114 - 60) * 1'000'000});
  EXPECT_EQ(idle, Microjoules{(76 - 40) * 1'000'000});
}

// A meter that reports power: its source integrates it, so the zone's counter is the energy since the start.
TEST(KeplerVectors, PowerSensor) {
  for (const json& entry : kepler_vectors()["active_idle"]) {
    if (!entry.contains("power_sensor_w")) continue;
    SCOPED_TRACE(entry.dump());
    NumberHost host;
    host.set_counter({0});
    Attributor attributor{make_model(kKeplerRules)};
    attributor.set_zones(host.zones());
    const int process = host.add_process();
    const double usage = entry.value("usage", 0.5);
    Microjoules total, active, idle;
    for (std::size_t i = 0; i < entry["dt_s"].size(); ++i) {
      const Nanoseconds span = seconds(entry["dt_s"][i]);
      const Microjoules drawn = energy_of(watts(entry["power_sensor_w"][i]), span);
      run_at(host, usage);
      host.run(process, 1s);
      host.draw(drawn);
      const Sample sample = host.sample(span);
      const ZoneAttribution& zone = attributor.attribute(sample).zones[0];
      total += zone.energy;
      active += zone.process[0];
      idle += zone.idle;
      EXPECT_EQ(total, joules(entry["energy_total_j"][i]));
      if (!entry.contains("active_total_j")) continue;
      EXPECT_EQ(active, joules(entry["active_total_j"][i]));
      EXPECT_EQ(idle, joules(entry["idle_total_j"][i]));
    }
  }
}

// One zone, one workload among others. `before_j`: its energy so far; total: with its share of this
// window.
void expect_share(const json& entry, const json& before_j, const json& total_j) {
  NumberHost host;
  Attributor attributor{make_model(kKeplerRules)};
  attributor.set_zones(host.zones());
  const int unit = host.add_group();
  const int rest = host.add_group();
  attributor.attribute(host.sample());

  const Nanoseconds node = seconds(entry["node_cpu_delta"]);
  const Nanoseconds own = seconds(entry["workload_cpu_delta"]);
  host.run_group(unit, own);
  host.run_group(rest, node - own);
  host.run_ticks(100, 0);
  host.draw(joules(entry["node_active_delta_j"]));
  const Nanoseconds span =
      seconds(entry["node_active_delta_j"].get<double>() / entry["node_active_w"].get<double>());
  const Sample sample = host.sample(span);
  const Attribution& result = attributor.attribute(sample);
  expect_invariants(result, sample, {joules(entry["node_active_delta_j"])});
  const Microjoules share = result.zones[0].group[host.group_index(unit)];
  const Microjoules before = before_j.is_null() ? Microjoules{} : joules(before_j);
  EXPECT_EQ(before + share, joules(total_j));
  EXPECT_EQ(mean_power(share, span), watts(entry["watts"]));
}

TEST(KeplerVectors, Attribution) {
  int checked = 0;
  for (const json& entry : kepler_vectors()["attribution"]) {
    if (!entry.contains("node_cpu_delta")) continue;
    SCOPED_TRACE(entry.dump());
    if (entry["total_j"].is_array()) {
      for (std::size_t i = 0; i < entry["total_j"].size(); ++i)
        expect_share(entry, entry["prev_j"][i], entry["total_j"][i]);
    } else {
      expect_share(entry, entry["prev_j"], entry["total_j"]);
    }
    ++checked;
  }
  EXPECT_EQ(checked, 5);
}

TEST(KeplerVectors, ProcessesAddUpToTheActivePower) {
  for (const json& entry : kepler_vectors()["attribution"]) {
    if (!entry.contains("processes_cpu_delta")) continue;
    NumberHost host;
    Attributor attributor{make_model(kKeplerRules)};
    attributor.set_zones(host.zones());
    attributor.attribute(host.sample());
    for (const json& time : entry["processes_cpu_delta"]) host.run(host.add_process(), seconds(time));
    host.run_ticks(1, 0);
    host.draw({25'000'000});
    const Sample sample = host.sample();
    const Attribution& result = attributor.attribute(sample);
    expect_invariants(result, sample, {{25'000'000}});
    Microjoules sum;
    for (const Microjoules share : result.zones[0].process) sum += share;
    EXPECT_EQ(sum, Microjoules{25'000'000});
  }
}

// Kepler's worked example: seven processes, some in containers, two of which form a pod, and one VM.
TEST(KeplerVectors, ExampleOfTheDocumentation) {
  const json& entry = kepler_vectors()["docs_examples"][1];
  NumberHost host;
  Attributor attributor{make_model(kKeplerRules)};
  attributor.set_zones(host.zones());
  const int pod = host.add_group();
  const std::map<std::string, int> containers = {{"container_A(p2+p3)", host.add_group()},
                                                 {"container_B(p4)", host.add_group()},
                                                 {"container_C(p6)", host.add_group(pod)},
                                                 {"container_D(p7)", host.add_group(pod)},
                                                 {"pod_X(C+D)", pod},
                                                 {"vm(p5)", host.add_group()}};
  const std::map<std::string, int> groups = {{"p1", NumberHost::kRoot},
                                             {"p2", containers.at("container_A(p2+p3)")},
                                             {"p3", containers.at("container_A(p2+p3)")},
                                             {"p4", containers.at("container_B(p4)")},
                                             {"p5_qemu", containers.at("vm(p5)")},
                                             {"p6", containers.at("container_C(p6)")},
                                             {"p7", containers.at("container_D(p7)")}};
  std::map<std::string, int> processes;
  for (const auto& [name, group] : groups) processes[name] = host.add_process(group);
  const int others = host.add_process();  // the rest of the node's CPU time
  attributor.attribute(host.sample());

  Nanoseconds rest = entry["node_cpu_ms"].get<int>() * 1ms;
  for (const auto& [name, process] : processes) {
    host.run(process, entry["cpu_ms"][name].get<int>() * 1ms);
    rest -= entry["cpu_ms"][name].get<int>() * 1ms;
  }
  host.run(others, rest);
  run_at(host, entry["usage"]);
  host.draw(joules(entry["total_w"]));
  const Sample sample = host.sample(1s);
  const Attribution& result = attributor.attribute(sample);
  expect_invariants(result, sample, {joules(entry["total_w"])});
  EXPECT_EQ(result.zones[0].idle, joules(entry["idle_w"]));
  for (const auto& [name, wanted] : entry["watts"].items()) {
    const auto process = processes.find(name);
    const Microjoules share = process != processes.end()
                                  ? result.zones[0].process[host.process_index(process->second)]
                                  : result.zones[0].group[host.group_index(containers.at(name))];
    EXPECT_EQ(mean_power(share, 1s), watts(wanted)) << name;
  }
}

TEST(KeplerVectors, ContainersShareOfTheDocumentation) {
  const json& entry = kepler_vectors()["docs_examples"][0];
  const auto percent = std::llround(entry["usage"].get<double>() * 100);
  const EnergySplit split = split_by_usage(joules(entry["total_w"]), {percent, 100});
  EXPECT_EQ(split.active, joules(entry["active_w"]));
  EXPECT_EQ(split.idle, joules(entry["idle_w"]));
  const auto share = std::llround(entry["container_share"].get<double>() * 100);
  const std::vector<std::int64_t> weights = {share, 100 - share};
  std::vector<Microjoules> shares(2);
  Apportioner().apportion(split.active, weights, shares);
  EXPECT_EQ(shares[0], joules(entry["container_w"]));
}

TEST(KeplerVectors, UsageRatio) {
  const json& delta = kepler_vectors()["cpu_usage_ratio"][0]["delta"];
  std::string line = "cpu ";
  for (const char* field : {"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"}) {
    line += " " + std::to_string(delta[field].get<int>());
  }
  const auto fields = parse_cpu_fields(line + " 400 50\n");  // guest is not added again
  ASSERT_TRUE(fields);
  const CpuTicks ticks = add_up(*fields);
  const UsageRatio ratio = usage_ratio({}, ticks);
  EXPECT_DOUBLE_EQ(static_cast<double>(ratio.busy) / static_cast<double>(ratio.total),
                   kepler_vectors()["cpu_usage_ratio"][0]["ratio"].get<double>());
}

TEST(KeplerVectors, StatLine) {
  const json& entry = kepler_vectors()["cpu_usage_ratio"][2];
  const auto fields = parse_cpu_fields(entry["stat_line"].get<std::string>());
  ASSERT_TRUE(fields);
  const CpuTicks ticks = add_up(*fields);
  const double user_and_system = entry["user_s"].get<double>() + entry["system_s"].get<double>();
  EXPECT_EQ(ticks.busy - ticks.interrupts - 7605, std::llround(user_and_system * 100));
  EXPECT_EQ(ticks.idle - 426072, std::llround(entry["idle_s"].get<double>() * 100));
  EXPECT_EQ(ticks.interrupts, 15697167 + 1285624);
}

TEST(KeplerVectors, ProcessTimeIsUserAndSystemWithoutGuestAgain) {
  const json& entry = kepler_vectors()["process_cpu"][0];
  const std::string text = entry["pid"].dump() + " (qemu) S 1 1 1 0 -1 4194304 0 0 0 0 " +
                           entry["utime_ticks"].dump() + " " + entry["stime_ticks"].dump() +
                           " 0 0 20 0 1 0 100 4096 1 0 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 " +
                           entry["guest_ticks"].dump() + " 0 0 0 0 0 0 0 0 0\n";
  const auto stat = parse_process_stat(text);
  ASSERT_TRUE(stat) << stat.error().message;
  EXPECT_EQ(stat->usage, seconds(entry["cpu_s"]));
}

// Two processes; the second ends. At the first reading Kepler books earlier time, keplerd does
// not.
TEST(KeplerVectors, ProcessDeltas) {
  const json& entry = kepler_vectors()["process_cpu"][2];
  NumberHost host;
  Attributor attributor{make_model(kKeplerRules)};
  attributor.set_zones(host.zones());
  const int first = host.add_process();
  const int second = host.add_process();
  host.run(first, seconds(entry["two_procs_first"][0]));
  host.run(second, seconds(entry["two_procs_first"][1]));
  const Sample start = host.sample();
  for (const Nanoseconds time : attributor.attribute(start).process_time) EXPECT_EQ(time, 0s);
  host.run(first, seconds(entry["node_total_2"]));
  host.end_process(second);
  const Sample sample = host.sample();
  EXPECT_EQ(attributor.attribute(sample).process_time,
            std::vector<Nanoseconds>{seconds(entry["node_total_2"])});
}

// Kepler sums the zones' counters and takes the delta of the sum; keplerd takes each zone's own. Where
// Kepler's sum has deltas, they equal the sum of ours.
TEST(KeplerVectors, AggregatedZone) {
  for (const json& entry : kepler_vectors()["aggregated_zone_uj"]) {
    if (!entry.contains("deltas")) continue;
    SCOPED_TRACE(entry.dump());
    for (std::size_t i = 1; i < entry["deltas"].size(); ++i) {
      Microjoules sum;
      for (const json& zone : entry["zones"]) {
        sum += counter_delta({zone["reads"][i - 1].get<std::int64_t>()},
                             {zone["reads"][i].get<std::int64_t>()}, {zone["max"].get<std::int64_t>()});
      }
      EXPECT_EQ(sum.value, entry["deltas"][i].get<std::int64_t>());
    }
  }
}

// where_keplerd_differs_on_purpose

TEST(DiffersFromKepler, StepBackIsAWrapOnlyWhereItIsPossible) {
  const Zone zone = package_zone();
  const CounterStep step{.previous = {500'000'000}, .current = {400'000'000}, .elapsed = 1s};
  EXPECT_GT(counter_delta(step.previous, step.current, zone.range),
            Microjoules{262'000'000'000});  // Kepler's
  EXPECT_EQ(judge_step(zone, step).energy, Microjoules{});
}

TEST(DiffersFromKepler, FirstReadingIsTheBaseline) {
  NumberHost host;
  Attributor attributor{make_model(kKeplerRules)};
  attributor.set_zones(host.zones());
  const Sample sample = host.sample();
  const Attribution& result = attributor.attribute(sample);
  expect_invariants(result, sample, {{}});
  EXPECT_FALSE(result.zones[0].read);
}

TEST(DiffersFromKepler, FailingZoneCostsItsOwnReadingOnly) {
  NumberHost host({package_zone(0), package_zone(1)});
  Attributor attributor{make_model(kKeplerRules)};
  attributor.set_zones(host.zones());
  attributor.attribute(host.sample());
  host.draw({5'000'000}, 0);
  host.draw({7'000'000}, 1);
  host.fail(true, 0);
  const Sample sample = host.sample();
  const Attribution& result = attributor.attribute(sample);
  expect_invariants(result, sample, {{}, {7'000'000}});
  EXPECT_FALSE(result.zones[0].read);
  EXPECT_TRUE(result.zones[1].read);
}

TEST(AgreesWithKepler, StealIsActive) {
  const auto fields = parse_cpu_fields("cpu  10 0 0 70 0 0 0 20 0 0\n");
  ASSERT_TRUE(fields);
  const CpuTicks ticks = add_up(*fields);
  EXPECT_EQ(usage_ratio({}, ticks).busy, 30);
}

}  // namespace
}  // namespace keplerd
