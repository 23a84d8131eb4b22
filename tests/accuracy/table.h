// SPDX-License-Identifier: Apache-2.0
// The errors of the rules as a table: a row for each host or scenario, a column for each rule; then the hours
// of the learned rule, if they were asked for. With limits, it knows which were missed.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "accuracy/host.h"
#include "accuracy/rules.h"
#include "accuracy/score.h"

namespace keplerd::accuracy {

// The columns.
struct Rules {
  std::vector<Rule> all;
  std::size_t judged = 0;  // the one that limits are for

  bool has(Rule rule) const;
  std::size_t column(Rule rule) const;  // of one that it has
};
inline const Rules kOfProcessors{{Rule::kUsageRatio, Rule::kFloor, Rule::kLearned, Rule::kNoFrequency}, 2};
// Of processors with counters of the energy of their cores; of memory; under loads that are chosen to fool
// the model; of processors with hardware counters.
inline const Rules kWithCoreEnergy{
    {Rule::kUsageRatio, Rule::kFloor, Rule::kLearned, Rule::kHalfCounted, Rule::kCounted}, 4};
inline const Rules kOfMemory{
    {Rule::kUsageRatio, Rule::kFloor, Rule::kLearned, Rule::kMisses, Rule::kHalfCounted, Rule::kCounted}, 5};
inline const Rules kAgainstAdversaries{{Rule::kUsageRatio, Rule::kFloor, Rule::kPooled, Rule::kLearned}, 3};
inline const Rules kWithCounters{{Rule::kUsageRatio, Rule::kFloor, Rule::kInstructions, Rule::kLearned}, 3};

// What a host was divided into.
struct Run {
  explicit Run(const Rules& columns) : rules(columns), scores(columns.all.size()) {}

  const Rules& rules;
  std::vector<Score> scores;
  std::vector<Score> hours;  // of the judged rule; only if they were asked for
};

// Of one host, or the mean of several. Percent.
struct Row {
  explicit Row(const Rules& rules)
      : error(rules.all.size()), of_windows(rules.all.size()), bias(rules.all.size()) {}
  // `watched`: the workloads whose names begin so; none if empty.
  Row(const Host& host, const Run& run, std::string_view watched);

  void add(const Row& row, double weight);

  std::vector<double> error, of_windows;
  std::vector<double>
      bias;  // of the watched workloads: the mean of their absolute values, or the value if it is one
  double worst = 0, covered = 0, half_width = 0, idle = 0;  // of the judged rule, like the hours
  struct Hour {
    double error = 0, covered = 0, idle = 0;
  };
  std::vector<Hour> hours;
};

// Those of the mean and of coverage apply to each hour, too.
struct Limits {
  std::optional<double> most_mean, most_bias, most_over_floor, most_over_pooled, least_covered, least_gain;
};

class Table {
 public:
  // `first_hour`: the number of the first of the hours; that of a host's first one is 1.
  Table(const Rules& rules, const Limits& limits, long first_hour);

  // `idle_once`: the host was idle once, so that the limits over other rules apply.
  void add(std::string_view name, const Row& row, bool idle_once);
  void add_bias(std::string_view watched, const Row& row);

  // Prints the mean and the hours. Returns the exit status.
  int finish();

 private:
  void compare_hours(std::string_view name, const std::vector<Row::Hour>& hours);
  void print_hours(const std::vector<Row::Hour>& means) const;
  double over(Rule rule, const Row& row) const;
  void miss(std::string_view what);

  const Rules& rules_;
  const Limits limits_;
  const long first_hour_;
  Row sum_, worst_;
  int rows_ = 0, above_floor_ = 0;
  bool missed_ = false;
};

}  // namespace keplerd::accuracy
