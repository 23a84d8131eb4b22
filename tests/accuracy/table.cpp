// SPDX-License-Identifier: Apache-2.0
#include "accuracy/table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/core.h>

namespace keplerd::accuracy {
namespace {

double bias_of(const Host& host, const Score& score, std::string_view watched) {
  std::vector<double> biases;
  for (std::size_t i = 0; i < host.workloads().size(); ++i)
    if (host.workloads()[i].name.starts_with(watched)) biases.push_back(score.bias(i));
  if (biases.size() == 1) return biases.front();
  double sum = 0;
  for (const double bias : biases) sum += std::abs(bias);
  return sum / static_cast<double>(biases.size());
}

void print(std::string_view name, const Row& row) {
  fmt::print("| {:<33} |", name);
  for (std::size_t i = 0; i < row.error.size(); ++i)
    fmt::print(" {:<12} |", fmt::format("{:.1f}, {:.1f}", row.error[i], row.of_windows[i]));
  fmt::print(" {:5.0f} | {:7.0f} | {:3.0f} | {:+4.0f} |\n", row.worst, row.covered, row.half_width, row.idle);
  std::fflush(stdout);
}

}  // namespace

bool Rules::has(Rule rule) const { return std::ranges::find(all, rule) != all.end(); }

std::size_t Rules::column(Rule rule) const {
  return static_cast<std::size_t>(std::ranges::find(all, rule) - all.begin());
}

Row::Row(const Host& host, const Run& run, std::string_view watched) : Row(run.rules) {
  for (std::size_t i = 0; i < error.size(); ++i) {
    const Score& score = run.scores[i];
    error[i] = score.error();
    of_windows[i] = score.error_of_windows();
    if (!watched.empty()) bias[i] = bias_of(host, score, watched);
  }
  const Score& judged = run.scores[run.rules.judged];
  worst = judged.worst();
  covered = judged.covered();
  half_width = judged.half_width();
  idle = judged.idle_error();
  for (const Score& hour : run.hours) hours.push_back({hour.error(), hour.covered(), hour.idle_error()});
}

void Row::add(const Row& row, double weight) {
  for (std::size_t i = 0; i < error.size(); ++i) {
    error[i] += weight * row.error[i];
    of_windows[i] += weight * row.of_windows[i];
    bias[i] += weight * row.bias[i];
  }
  worst += weight * row.worst;
  covered += weight * row.covered;
  half_width += weight * row.half_width;
  idle += weight * row.idle;
  hours.resize(std::max(hours.size(), row.hours.size()));
  for (std::size_t i = 0; i < row.hours.size(); ++i) {
    hours[i].error += weight * row.hours[i].error;
    hours[i].covered += weight * row.hours[i].covered;
    hours[i].idle += weight * row.hours[i].idle;
  }
}

Table::Table(const Rules& rules, const Limits& limits, long first_hour)
    : rules_(rules), limits_(limits), first_hour_(first_hour), sum_(rules), worst_(rules) {
  worst_.covered = 100;
  fmt::print("| {:<33} |", "error, in windows of 10 s (%)");
  for (const Rule rule : rules.all) fmt::print(" {:<12} |", rule_name(rule));
  fmt::print(" worst | covered | +-  | idle |\n|-----------------------------------|");
  for (std::size_t i = 0; i < rules.all.size(); ++i) fmt::print("--------------|");
  fmt::print("-------|---------|-----|------|\n");
}

void Table::add(std::string_view name, const Row& row, bool idle_once) {
  print(name, row);
  sum_.add(row, 1);
  ++rows_;
  for (std::size_t i = 0; i < rules_.all.size(); ++i) {
    worst_.error[i] = std::max(worst_.error[i], row.error[i]);
    worst_.of_windows[i] = std::max(worst_.of_windows[i], row.of_windows[i]);
  }
  worst_.worst = std::max(worst_.worst, row.worst);
  worst_.covered = std::min(worst_.covered, row.covered);
  worst_.half_width = std::max(worst_.half_width, row.half_width);
  if (std::abs(row.idle) > std::abs(worst_.idle)) worst_.idle = row.idle;
  above_floor_ += over(Rule::kFloor, row) > 0 ? 1 : 0;
  const auto compare = [&](Rule rule, std::optional<double> most) {
    if (most && idle_once && !(over(rule, row) <= *most))
      miss(fmt::format("{}: {:.1f} points worse than {}", name, over(rule, row), rule_name(rule)));
  };
  compare(Rule::kFloor, limits_.most_over_floor);
  compare(Rule::kPooled, limits_.most_over_pooled);
  if (limits_.least_covered && !(row.covered >= *limits_.least_covered))
    miss(fmt::format("{}: only {:.0f} % of the intervals hold the truth", name, row.covered));
  compare_hours(name, row.hours);
}

void Table::add_bias(std::string_view watched, const Row& row) {
  fmt::print("| {:<33} |", fmt::format("  bias of {}", watched));
  for (const double bias : row.bias) fmt::print(" {:<12} |", fmt::format("{:+.1f}", bias));
  fmt::print("       |         |     |      |\n");
  const double judged = row.bias[rules_.judged];
  if (limits_.most_bias && !(std::abs(judged) <= *limits_.most_bias))
    miss(fmt::format("bias of {}: {:+.1f} %", watched, judged));
}

void Table::compare_hours(std::string_view name, const std::vector<Row::Hour>& hours) {
  worst_.hours.resize(std::max(worst_.hours.size(), hours.size()), {.covered = 100});
  for (std::size_t i = 0; i < hours.size(); ++i) {
    Row::Hour& worst = worst_.hours[i];
    worst.error = std::max(worst.error, hours[i].error);
    worst.covered = std::min(worst.covered, hours[i].covered);
    if (std::abs(hours[i].idle) > std::abs(worst.idle)) worst.idle = hours[i].idle;
    if (limits_.least_covered && hours[i].covered < *limits_.least_covered)
      miss(fmt::format("{}, hour {}: only {:.0f} % of the intervals hold the truth", name,
                       first_hour_ + static_cast<long>(i), hours[i].covered));
  }
}

int Table::finish() {
  if (rows_ == 0) {
    fmt::print(stderr, "no such scenario\n");
    return 2;
  }
  Row mean(rules_);
  mean.add(sum_, 1.0 / rows_);
  if (rows_ > 1) {
    print("mean", mean);
    print("worst", worst_);
    fmt::print("\nThe model is worse than floor x CPU on {} of {} hosts.\n", above_floor_, rows_);
  }
  print_hours(mean.hours);
  if (limits_.most_mean && !(mean.error[rules_.judged] <= *limits_.most_mean))
    miss(fmt::format("mean: {:.1f} %, more than {:.1f}", mean.error[rules_.judged], *limits_.most_mean));
  for (std::size_t i = 0; limits_.most_mean && i < mean.hours.size(); ++i)
    if (!(mean.hours[i].error <= *limits_.most_mean))
      miss(fmt::format("hour {}: mean {:.1f} %", first_hour_ + static_cast<long>(i), mean.hours[i].error));
  const double gain = mean.error[rules_.column(Rule::kFloor)] / mean.error[rules_.judged];
  if (limits_.least_gain && gain < *limits_.least_gain)
    miss(fmt::format("the mean error of floor x CPU is only {:.1f} times the model's", gain));
  return missed_ ? 1 : 0;
}

void Table::print_hours(const std::vector<Row::Hour>& means) const {
  if (means.empty()) return;
  fmt::print("\n| hour | mean error | largest | covered | least | idle | largest |\n");
  fmt::print("|------|------------|---------|---------|-------|------|---------|\n");
  for (std::size_t i = 0; i < means.size(); ++i) {
    const Row::Hour &mean = means[i], &worst = worst_.hours[i];
    fmt::print("| {:4} | {:10.1f} | {:7.1f} | {:7.0f} | {:5.0f} | {:+4.0f} | {:+7.0f} |\n",
               first_hour_ + static_cast<long>(i), mean.error, worst.error, mean.covered, worst.covered,
               mean.idle, worst.idle);
  }
}

// By how many points the judged rule is worse than this one.
double Table::over(Rule rule, const Row& row) const {
  return row.error[rules_.judged] - row.error[rules_.column(rule)];
}

void Table::miss(std::string_view what) {
  fmt::print("missed: {}\n", what);
  missed_ = true;
}

}  // namespace keplerd::accuracy
