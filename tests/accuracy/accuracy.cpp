// SPDX-License-Identifier: Apache-2.0
// Prints how far divisions of energy are from the truth, for hosts of which it is known: a row for each
// scenario, a column for each rule. With bounds, exits with status 1 where the model is worse.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "accuracy/host.h"
#include "accuracy/measured_host.h"
#include "accuracy/rules.h"
#include "accuracy/scenarios.h"
#include "accuracy/score.h"
#include "accuracy/trace.h"

namespace keplerd::accuracy {
namespace {

constexpr Rule kRules[] = {Rule::kUsageRatio, Rule::kFloor, Rule::kLearned, Rule::kNoFrequency};
constexpr std::size_t kCount = std::size(kRules), kFloorAt = 1, kLearnedAt = 2;

struct Arguments {
  Options options;
  std::string law = "usual";
  double from = 600, window = 1;
  std::uint64_t seeds = 1;
  bool never_idle = false, hourly = false, adversaries = false;
  std::string scenario, measured, trace;
  std::uint64_t random = 0;  // hosts
  std::optional<double> most_mean, most_over_floor, least_covered, least_gain;
};

// Of one host, or the mean of several.
struct Row {
  double error[kCount] = {}, of_windows[kCount] = {};
  double bias[kCount] = {};                                 // of the workload that is watched
  double worst = 0, covered = 0, half_width = 0, idle = 0;  // of the learned rule

  void add(const Row& row, double weight) {
    for (std::size_t i = 0; i < kCount; ++i) {
      error[i] += weight * row.error[i];
      of_windows[i] += weight * row.of_windows[i];
      bias[i] += weight * row.bias[i];
    }
    worst += weight * row.worst;
    covered += weight * row.covered;
    half_width += weight * row.half_width;
    idle += weight * row.idle;
  }
};

std::optional<std::size_t> find_workload(const Host& host, std::string_view name) {
  const auto found = std::ranges::find(host.workloads(), name, &Workload::name);
  if (name.empty() || found == host.workloads().end()) return std::nullopt;
  return static_cast<std::size_t>(found - host.workloads().begin());
}

Row row_of(const Score (&scores)[kCount], std::optional<std::size_t> watched = {}) {
  Row row;
  for (std::size_t i = 0; watched && i < kCount; ++i) row.bias[i] = scores[i].bias(*watched);
  for (std::size_t i = 0; i < kCount; ++i) {
    row.error[i] = scores[i].error();
    row.of_windows[i] = scores[i].error_of_windows();
  }
  const Score& learned = scores[kLearnedAt];
  row.worst = learned.worst();
  row.covered = learned.covered();
  row.half_width = learned.half_width();
  row.idle = learned.idle_error();
  return row;
}

// Runs a host, and scores all rules from `from` on; with `hourly`, prints each hour of the learned rule.
void run(Host& host, const Arguments& arguments, Score (&scores)[kCount]) {
  std::vector<std::unique_ptr<Divider>> dividers;
  for (const Rule rule : kRules) dividers.push_back(std::make_unique<Divider>(rule, host));
  Score hour;
  double next_hour = arguments.from + 3600;
  for (double now = 0; now + arguments.window <= arguments.options.seconds + 0.01; now += arguments.window) {
    const Window& window = host.run(arguments.window);
    for (std::size_t i = 0; i < kCount; ++i) {
      const Estimate& estimate = dividers[i]->divide(window);
      if (now < arguments.from) continue;
      scores[i].add(host, window, estimate);
      if (kRules[i] == Rule::kLearned) hour.add(host, window, estimate);
    }
    if (!arguments.hourly || now + arguments.window < next_hour - 0.01) continue;
    fmt::print("  until {:5.0f} s: {:5.1f} %, {:3.0f} % covered\n", next_hour, hour.error(), hour.covered());
    hour = {};
    next_hour += 3600;
  }
}

void print_head() {
  fmt::print("| {:<33} |", "error, in windows of 10 s (%)");
  for (const Rule rule : kRules) fmt::print(" {:<12} |", rule_name(rule));
  fmt::print(" worst | covered | +-  | idle |\n|-----------------------------------|");
  for (std::size_t i = 0; i < kCount; ++i) fmt::print("--------------|");
  fmt::print("-------|---------|-----|------|\n");
}

void print(std::string_view name, const Row& row) {
  fmt::print("| {:<33} |", name);
  for (std::size_t i = 0; i < kCount; ++i)
    fmt::print(" {:<12} |", fmt::format("{:.1f}, {:.1f}", row.error[i], row.of_windows[i]));
  fmt::print(" {:5.0f} | {:7.0f} | {:3.0f} | {:+4.0f} |\n", row.worst, row.covered, row.half_width, row.idle);
  std::fflush(stdout);
}

void print_bias(std::string_view workload, const Row& row) {
  fmt::print("| {:<33} |", fmt::format("  bias of the {}", workload));
  for (const double bias : row.bias) fmt::print(" {:<12} |", fmt::format("{:+.1f}", bias));
  fmt::print("       |         |     |      |\n");
}

class Table {
 public:
  explicit Table(const Arguments& arguments) : arguments_(arguments) { print_head(); }

  void add(std::string_view name, const Row& row, bool idle_once) {
    print(name, row);
    sum_.add(row, 1);
    ++rows_;
    for (std::size_t i = 0; i < kCount; ++i) {
      worst_.error[i] = std::max(worst_.error[i], row.error[i]);
      worst_.of_windows[i] = std::max(worst_.of_windows[i], row.of_windows[i]);
    }
    worst_.worst = std::max(worst_.worst, row.worst);
    worst_.covered = std::min(worst_.covered, row.covered);
    worst_.half_width = std::max(worst_.half_width, row.half_width);
    if (std::abs(row.idle) > std::abs(worst_.idle)) worst_.idle = row.idle;
    above_floor_ += row.error[kLearnedAt] > row.error[kFloorAt] ? 1 : 0;
    if (arguments_.least_covered && row.covered < *arguments_.least_covered)
      miss("{}: only {:.0f} % of the intervals hold the truth", name, row.covered);
    const double over = row.error[kLearnedAt] - row.error[kFloorAt];
    if (arguments_.most_over_floor && idle_once && over > *arguments_.most_over_floor)
      miss("{}: {:.1f} points worse than floor x CPU", name, over);
  }

  int finish() {
    if (rows_ == 0) {
      fmt::print(stderr, "no such scenario\n");
      return 2;
    }
    Row mean;
    mean.add(sum_, 1.0 / rows_);
    if (rows_ > 1) print("mean", mean);
    if (rows_ > 1) print_worst();
    if (arguments_.most_mean && mean.error[kLearnedAt] > *arguments_.most_mean)
      miss("mean: {:.1f} %, more than {:.1f}", mean.error[kLearnedAt], *arguments_.most_mean);
    const double gain = mean.error[kFloorAt] / mean.error[kLearnedAt];
    if (arguments_.least_gain && gain < *arguments_.least_gain)
      miss("the mean error of floor x CPU is only {:.1f} times the model's", gain);
    return missed_ ? 1 : 0;
  }

 private:
  void print_worst() const {
    print("worst", worst_);
    fmt::print("\nThe model is worse than floor x CPU on {} of {} hosts.\n", above_floor_, rows_);
  }

  template <class... Values>
  void miss(fmt::format_string<Values...> format, Values&&... values) {
    fmt::print("missed: {}\n", fmt::format(format, std::forward<Values>(values)...));
    missed_ = true;
  }

  const Arguments& arguments_;
  Row sum_, worst_{.covered = 100};
  int rows_ = 0, above_floor_ = 0;
  bool missed_ = false;
};

template <class Create>
Row average(const Arguments& arguments, Create create, std::string_view watched = {}) {
  Row row;
  for (std::uint64_t seed = 1; seed <= arguments.seeds; ++seed) {
    const std::unique_ptr<Host> host = create(seed);
    Score scores[kCount];
    run(*host, arguments, scores);
    row.add(row_of(scores, find_workload(*host, watched)), 1 / static_cast<double>(arguments.seeds));
  }
  return row;
}

int print_table(Arguments& arguments) {
  Table table(arguments);
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
    Score scores[kCount];
    run(*host, arguments, scores);
    const Processors& processors = host->processors();
    table.add(fmt::format("host {}: {} x {} cores x {}, {} loads", seed, processors.packages,
                          processors.cores / processors.packages, processors.threads_per_core,
                          host->workloads().size() - 1),
              row_of(scores), options.starts_idle);
  }
  if (arguments.random > 0) return table.finish();
  for (const Scenario& scenario : arguments.adversaries ? adversaries() : scenarios()) {
    if (!arguments.scenario.empty() && scenario.name.find(arguments.scenario) == std::string_view::npos)
      continue;
    const auto create = [&](std::uint64_t seed) {
      Options options = arguments.options;
      options.seed = seed;
      return scenario.create(options);
    };
    const Row row = average(arguments, create, scenario.watched);
    table.add(scenario.name, row, scenario.idle_once && arguments.options.starts_idle);
    if (!scenario.watched.empty()) print_bias(scenario.watched, row);
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
  app.add_flag("--hourly", arguments.hourly, "shows each hour");
  app.add_option("--most-mean", arguments.most_mean, "fails if the model's mean error is larger (percent)");
  app.add_option("--most-over-floor", arguments.most_over_floor,
                 "fails if a host that was idle once has a larger "
                 "error than floor x CPU, by so many points");
  app.add_option("--least-covered", arguments.least_covered,
                 "fails if fewer intervals hold the truth (percent)");
  app.add_option("--least-gain", arguments.least_gain,
                 "fails if the mean error of floor x CPU is not so many times the model's");
  CLI11_PARSE(app, argc, argv);
  if (!arguments.trace.empty()) return compare_on_trace(arguments.trace);
  arguments.options.starts_idle = !arguments.never_idle;
  const auto law = std::ranges::find(laws(), arguments.law, &NamedLaw::name);
  if (law == laws().end()) {
    fmt::print(stderr, "no such law: {}\n", arguments.law);
    return 2;
  }
  arguments.options.law = law->law;
  return print_table(arguments);
}
