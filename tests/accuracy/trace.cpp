// SPDX-License-Identifier: Apache-2.0
#include "accuracy/trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <vector>

#include <fmt/core.h>

#include "attribution/attributor.h"
#include "attribution/make_model.h"
#include "attribution/workload_keys.h"
#include "trace/reader.h"

namespace keplerd::accuracy {
namespace {

using Split = ModelRules::Split;
using Share = ModelRules::Share;

struct NamedRules {
  const char* name;
  ModelRules rules;
};
constexpr std::array<NamedRules, 4> kRules{
    {{"usage ratio", {.split = Split::kUsageRatio, .share = Share::kCpuTime}},
     {"floor x CPU", {.split = Split::kBaseline, .share = Share::kCpuTime}},
     {"ratio, learned", {.split = Split::kUsageRatio, .share = Share::kLearned}},
     {"learned", {.split = Split::kBaseline, .share = Share::kLearned}}}};
constexpr std::size_t kLearned = kRules.size() - 1;
constexpr std::size_t kShown = 20;  // workloads

using Joules = std::array<double, kRules.size()>;

// What each rule gives to the accounts and to each workload.
class Comparison {
 public:
  Comparison() {
    for (const NamedRules& rules : kRules) attributors_.emplace_back(make_model(rules.rules));
  }

  void take(const TraceReader& reader) {
    const Sample& sample = reader.sample();
    for (std::size_t rule = 0; rule < kRules.size(); ++rule) {
      Attributor& attributor = attributors_[rule];
      follow_zones(reader, attributor);
      const Attribution& attribution = attributor.attribute(sample);
      for (std::size_t zone = 0; zone < attribution.zones.size(); ++zone)
        if (reader.zones()[zone].in_total) add(sample.usage, attribution.zones[zone], rule);
    }
    ++samples_;
  }

  void print() const {
    fmt::print("{} samples. Energy in J; workloads without the idle energy.\n\n| {:<50} |", samples_, "");
    for (const NamedRules& rules : kRules) fmt::print(" {:>14} |", rules.name);
    fmt::print("\n|{:-<52}|", "");
    for (std::size_t i = 0; i < kRules.size(); ++i) fmt::print("---------------:|");
    fmt::print("\n");
    std::vector<std::pair<std::string, Joules>> rows(workloads_.begin(), workloads_.end());
    std::ranges::sort(rows,
                      [](const auto& a, const auto& b) { return a.second[kLearned] > b.second[kLearned]; });
    Joules rest{}, sum{}, apart{};
    double active = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Joules& row = rows[i].second;
      if (i < kShown) print_row(rows[i].first, row);
      for (std::size_t rule = 0; rule < kRules.size(); ++rule) {
        rest[rule] += i < kShown ? 0 : row[rule];
        apart[rule] += std::abs(row[rule] - row[kLearned]);
      }
      active += row[kLearned];
    }
    if (rows.size() > kShown) print_row(fmt::format("{} others", rows.size() - kShown), rest);
    for (const auto& [name, row] : accounts_) print_row("(" + name + ")", row);
    for (const auto* const all : {&workloads_, &accounts_})
      for (const auto& [name, row] : *all)
        for (std::size_t rule = 0; rule < kRules.size(); ++rule) sum[rule] += row[rule];
    print_row("sum", sum);
    if (active <= 0) return;
    fmt::print("| {:<50} |", "workloads differ from the last column by");
    for (const double energy : apart) fmt::print(" {:>12.1f} % |", energy / active * 100);
    fmt::print("\n");
  }

 private:
  static double joules(Microjoules energy) { return static_cast<double>(energy.value) / 1e6; }

  static void print_row(const std::string& name, const Joules& row) {
    fmt::print("| {:<50} |", name.size() > 50 ? "..." + name.substr(name.size() - 47) : name);
    for (const double energy : row) fmt::print(" {:>14.1f} |", energy);
    fmt::print("\n");
  }

  void add(const UsageSample& usage, const ZoneAttribution& zone, std::size_t rule) {
    accounts_["idle"][rule] += joules(zone.idle);
    accounts_["kernel"][rule] += joules(zone.kernel);
    accounts_["unattributed"][rule] += joules(zone.unattributed);
    for (std::size_t i = 0; i < zone.process.size(); ++i)
      if (usage.processes[i].group == kNoGroup)
        accounts_["processes outside"][rule] += joules(zone.process[i]);
    for (std::size_t i = 0; i < zone.own.size(); ++i)
      if (zone.own[i] != Microjoules{})
        workloads_[std::string(workload_path(usage.groups[i].path))][rule] += joules(zone.own[i]);
  }

  std::vector<Attributor> attributors_;
  std::map<std::string, Joules> workloads_, accounts_;
  std::size_t samples_ = 0;
};

}  // namespace

int compare_on_trace(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    fmt::print(stderr, "{}: cannot be opened\n", path);
    return 1;
  }
  TraceReader reader;
  Comparison comparison;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line) && !file.eof();
       ++number) {  // a torn last line is left out
    const auto taken = reader.take(line);
    if (!taken) {
      fmt::print(stderr, "{}:{}: {}\n", path, number, taken.error().message);
      return 1;
    }
    if (*taken == TraceReader::Line::kSample) comparison.take(reader);
  }
  comparison.print();
  return 0;
}

}  // namespace keplerd::accuracy
