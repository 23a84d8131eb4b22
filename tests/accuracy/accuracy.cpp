// SPDX-License-Identifier: Apache-2.0
// Prints how far divisions of energy are from the truth, for hosts of which it is known: a row for each
// scenario, a column for each rule. With bounds, exits with status 1 where the model is worse.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "accuracy/host.h"
#include "accuracy/measured_host.h"
#include "accuracy/memory_host.h"
#include "accuracy/rules.h"
#include "accuracy/scenarios.h"
#include "accuracy/score.h"
#include "accuracy/table.h"
#include "accuracy/trace.h"

namespace keplerd::accuracy {
namespace {

struct Arguments {
  Options options;
  std::string law = "usual";
  double from = 600, window = 1;
  std::uint64_t seeds = 1;
  bool never_idle = false, hourly = false, adversaries = false;
  std::string scenario, measured, trace;
  std::uint64_t random = 0;  // hosts
  Limits limits;
  bool memory = false, core_energy = false, counters = false;

  const Rules& rules() const {
    return memory        ? kOfMemory
           : core_energy ? kWithCoreEnergy
           : counters    ? kWithCounters
           : adversaries ? kAgainstAdversaries
                         : kOfProcessors;
  }
};

// Runs a host, and scores all rules from `from` on.
Run run(Host& host, const Arguments& arguments) {
  const Rules& rules = arguments.rules();
  Run run(rules);
  std::vector<std::unique_ptr<Divider>> dividers;
  for (const Rule rule : rules.all) dividers.push_back(std::make_unique<Divider>(rule, host));
  Score hour;
  double next_hour = arguments.from + 3600;
  for (double now = 0; now + arguments.window <= arguments.options.seconds + 0.01; now += arguments.window) {
    const Window& window = host.run(arguments.window);
    for (std::size_t i = 0; i < rules.all.size(); ++i) {
      const Estimate& estimate = dividers[i]->divide(window);
      if (now < arguments.from) continue;
      run.scores[i].add(host, window, estimate);
      if (i == rules.judged) hour.add(host, window, estimate);
    }
    if (!arguments.hourly || now + arguments.window < next_hour - 0.01) continue;
    run.hours.push_back(std::exchange(hour, {}));
    next_hour += 3600;
  }
  return run;
}

template <class Create>
Row average(const Arguments& arguments, Create create, std::string_view watched = {}) {
  Row row(arguments.rules());
  for (std::uint64_t seed = 1; seed <= arguments.seeds; ++seed) {
    const std::unique_ptr<Host> host = create(seed);
    row.add(Row(*host, run(*host, arguments), watched), 1 / static_cast<double>(arguments.seeds));
  }
  return row;
}

int print_table(Arguments& arguments) {
  Table table(arguments.rules(), arguments.limits, std::lround(arguments.from / 3600) + 1);
  if (!arguments.measured.empty()) {
    const auto create = [&](std::uint64_t seed) {
      return std::make_unique<MeasuredHost>(arguments.measured, seed);
    };
    table.add("a real machine's figures", average(arguments, create), true);
    return table.finish();
  }
  for (std::uint64_t seed = 1; seed <= arguments.random; ++seed) {
    Options options = arguments.options;
    options.seed = seed;
    const std::unique_ptr<Host> host = random_host(options);
    const Row row(*host, run(*host, arguments), {});
    const Processors& processors = host->processors();
    table.add(fmt::format("host {}: {} x {} cores x {}, {} loads", seed, processors.packages,
                          processors.cores / processors.packages, processors.threads_per_core,
                          host->workloads().size() - 1),
              row, options.starts_idle);
  }
  if (arguments.random > 0) return table.finish();
  for (const Scenario& scenario : arguments.adversaries ? adversaries() : scenarios()) {
    if (!arguments.scenario.empty() && scenario.name.find(arguments.scenario) == std::string_view::npos)
      continue;
    const auto create = [&](std::uint64_t seed) {
      Options options = arguments.options;
      options.seed = seed;
      auto host = scenario.create(options);
      if (arguments.memory) host = std::make_unique<MemoryHost>(std::move(host), MemoryLaw{}, seed);
      return host;
    };
    const Row row = average(arguments, create, scenario.watched);
    table.add(scenario.name, row, scenario.idle_once && arguments.options.starts_idle);
    if (!scenario.watched.empty()) table.add_bias(scenario.watched, row);
  }
  return table.finish();
}

}  // namespace
}  // namespace keplerd::accuracy

int main(int argc, char** argv) {
  using namespace keplerd::accuracy;
  Arguments arguments;
  CLI::App app{"Compares divisions of energy with the truth, on hosts of which it is known."};
  app.add_option("--seconds", arguments.options.seconds, "how long each host runs (3600)");
  app.add_option("--from", arguments.from, "from when on errors count (600)");
  app.add_option("--window", arguments.window, "seconds between two samples (1)");
  app.add_option("--seeds", arguments.seeds, "hosts of each scenario, of which the mean is shown (1)");
  app.add_option("--law", arguments.law,
                 "law of the simulated hosts: usual, linear, cubic, fixed, server, alike");
  app.add_option("--scenario", arguments.scenario, "only scenarios with this in their name");
  app.add_option("--measured", arguments.measured, "replays the measured powers in this file instead");
  app.add_option("--random", arguments.random, "so many hosts of random laws and workloads instead");
  app.add_option(
      "--trace", arguments.trace,
      "divides this trace (keplerctl record) under several rules instead: there is no truth in it");
  app.add_flag("--never-idle", arguments.never_idle, "hosts are not idle at their start");
  app.add_flag("--adversaries", arguments.adversaries,
               "hosts whose loads are chosen to fool the model instead");
  app.add_flag("--memory", arguments.memory, "their memory instead of their processors");
  app.add_flag("--core-energy", arguments.core_energy,
               "also with processors that count the energy of the cores of workloads");
  app.add_flag("--counters", arguments.counters,
               "also with processors that count the instructions of workloads");
  app.add_flag("--hourly", arguments.hourly, "shows each hour of the model, and applies the limits to each");
  app.add_option("--most-mean", arguments.limits.most_mean,
                 "fails if the model's mean error is larger (percent)");
  app.add_option("--most-bias", arguments.limits.most_bias,
                 "fails if the energy of watched workloads, such as idle VMs, is off by more (percent)");
  app.add_option("--most-over-floor", arguments.limits.most_over_floor,
                 "fails if a host that was idle once has a larger "
                 "error than floor x CPU, by so many points");
  app.add_option("--most-over-pooled", arguments.limits.most_over_pooled,
                 "with --adversaries: fails if a host that was idle once has a larger "
                 "error than the model without powers of workloads, by so many points");
  app.add_option("--least-covered", arguments.limits.least_covered,
                 "fails if fewer intervals hold the truth (percent)");
  app.add_option("--least-gain", arguments.limits.least_gain,
                 "fails if the mean error of floor x CPU is not so many times the model's");
  CLI11_PARSE(app, argc, argv);
  if (!arguments.trace.empty()) return compare_on_trace(arguments.trace);
  arguments.options.starts_idle = !arguments.never_idle;
  if (arguments.limits.most_over_pooled && !arguments.rules().has(Rule::kPooled)) {
    fmt::print(stderr, "--most-over-pooled: no such column\n");
    return 2;
  }
  const auto law = std::ranges::find(laws(), arguments.law, &NamedLaw::name);
  if (law == laws().end()) {
    fmt::print(stderr, "no such law: {}\n", arguments.law);
    return 2;
  }
  arguments.options.law = law->law;
  return print_table(arguments);
}
