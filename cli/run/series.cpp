// SPDX-License-Identifier: Apache-2.0
#include "cli/run/series.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/fields.h"
#include "cli/output/column_unit.h"
#include "cli/output/human.h"
#include "cli/output/property_list.h"
#include "varlink/json.h"
#include "varlink/parse_json.h"

namespace keplerd::cli::run {
namespace {

// The mean of a field of all runs, rounded to nearest; unset if one of them lacks it.
template <class Value>
std::optional<std::int64_t> mean_of(const std::vector<Report>& runs, Value value) {
  __int128 sum = 0;
  for (const Report& run : runs) {
    const std::optional<std::int64_t> number = value(run);
    if (!number) return std::nullopt;
    sum += *number;
  }
  const auto count = static_cast<__int128>(runs.size());
  return runs.empty() ? std::nullopt : std::optional(static_cast<std::int64_t>((sum + count / 2) / count));
}

template <class Amount>
std::optional<std::int64_t> mean_of_field(const std::vector<Report>& runs,
                                          std::optional<Amount> Report::*field_of) {
  return mean_of(runs, [&](const Report& run) -> std::optional<std::int64_t> {
    if (!(run.*field_of)) return std::nullopt;
    if constexpr (requires(Amount amount) { amount.value; }) {
      return (*(run.*field_of)).value;
    } else {
      return (*(run.*field_of)).count();
    }
  });
}

std::vector<double> energies(const std::vector<Report>& runs) {
  std::vector<double> values;
  for (const Report& run : runs)
    if (run.energy) values.push_back(static_cast<double>(run.energy->value));
  return values;
}

Microjoules rounded(double energy) { return {static_cast<std::int64_t>(energy + 0.5)}; }

// The difference to `before` in percent; unset if that is 0.
std::optional<double> change_percent(double before, double now) {
  if (before <= 0) return std::nullopt;
  return 100 * (now - before) / before;
}

// One run that stands for all of them.
Report mean_report(const std::vector<Report>& runs) {
  const std::vector<Report> used = successful(runs);
  Report mean;
  mean.command = used.back().command;
  mean.label = used.back().label;
  mean.rates = used.back().rates;
  mean.source = used.back().source;
  mean.problem = used.back().problem;
  for (const Report& run : runs) mean.exit_status = std::max(mean.exit_status, run.exit_status);
  const auto energy_of = [&](std::optional<Microjoules> Report::*member) {
    const auto value = mean_of_field(used, member);
    return value ? std::optional(Microjoules{*value}) : std::nullopt;
  };
  mean.energy = energy_of(&Report::energy);
  mean.active = energy_of(&Report::active);
  mean.idle = energy_of(&Report::idle);
  mean.host_idle = energy_of(&Report::host_idle);
  mean.host_active = energy_of(&Report::host_active);
  if (const auto cpu = mean_of_field(used, &Report::cpu)) mean.cpu = microseconds(*cpu);
  mean.duration = microseconds(
      *mean_of(used, [](const Report& run) -> std::optional<std::int64_t> { return run.duration.count(); }));
  if (mean.energy && mean.duration >= kShortestPowerSpan)
    mean.mean_power = mean_power(*mean.energy, mean.duration);
  for (const Report& run : used) {
    if (run.peak_power) mean.peak_power = std::max(mean.peak_power.value_or(Microwatts{0}), *run.peak_power);
    mean.resolution = std::max(mean.resolution, run.resolution);
    if (run.resolution > run.energy.value_or(Microjoules{0})) mean.mean_power.reset();
  }
  return mean;
}

}  // namespace

std::vector<Report> successful(const std::vector<Report>& runs) {
  std::vector<Report> out;
  for (const Report& run : runs)
    if (run.exit_status == 0) out.push_back(run);
  return out.empty() ? runs : out;
}

std::optional<Microjoules> mean_energy(const std::vector<Report>& runs) {
  const auto mean = mean_of_field(successful(runs), &Report::energy);
  return mean ? std::optional(Microjoules{*mean}) : std::nullopt;
}

Json series_json(const std::vector<Report>& runs) {
  if (runs.size() == 1) return report_json(runs.front());
  Json json = report_json(mean_report(runs));
  json.erase("processes");
  Json list = Json::array();
  for (const Report& run : runs) list.push_back(report_json(run));
  json["runs"] = std::move(list);
  const Sample sample = sample_of(energies(successful(runs)));
  if (sample.count > 0) json["mean"] = rounded(sample.mean).value;
  if (const auto percent = stdev_percent(sample)) json["stdevPercent"] = *percent;
  return json;
}

std::string series_text(const std::vector<Report>& runs, const TableStyle& style) {
  if (runs.size() < 2) return {};
  const std::vector<Report> used = successful(runs);
  const Report mean = mean_report(runs);
  std::string out = fmt::format("\n{} runs", runs.size());
  if (used.size() < runs.size()) out += fmt::format(", {} of them successful", used.size());
  out += ", on average:\n";
  PropertyList list(kLabelWidth, style);
  if (mean.energy) {
    const auto percent = stdev_percent(sample_of(energies(used)));
    const bool resolved = *mean.energy >= mean.resolution;
    list.add("Energy", resolved_energy(*mean.energy, mean.resolution) +
                           (percent && resolved ? fmt::format(" +- {:.1f} %", *percent) : ""));
  } else {
    list.add("Energy", "unknown, because not all runs were measured");
  }
  if (mean.mean_power) list.add("Mean power", format_power(*mean.mean_power));
  list.add("Time", format_time(mean.duration));
  if (mean.cpu) list.add("CPU time", format_time(*mean.cpu));
  return out + list.text();
}

Result<std::vector<double>> energies_of(const Json& result) {
  const Json& run = field(result, "run");
  std::vector<double> values;
  const Json& runs = field(run, "runs");
  if (runs.is_array()) {
    for (const Json& one : runs) {
      const auto energy = integer_field(one, "energyMicrojoules");
      if (energy && integer_field(one, "exitStatus") == 0) values.push_back(static_cast<double>(*energy));
    }
  } else if (const auto energy = integer_field(run, "energyMicrojoules")) {
    values.push_back(static_cast<double>(*energy));
  }
  if (values.empty()) return Error{"no energy of a run: expected the output of 'keplerctl --json=short run'"};
  return values;
}

std::string comparison_text(std::string_view file, const std::vector<double>& before,
                            const std::vector<double>& now) {
  const Sample first = sample_of(before), second = sample_of(now);
  std::string out = fmt::format("\nCompared with {}: {} before, {} now", printable(file),
                                format_energy(rounded(first.mean)), format_energy(rounded(second.mean)));
  if (const auto change = change_percent(first.mean, second.mean)) out += fmt::format(", {:+.1f} %", *change);
  const auto probability = welch_probability(first, second);
  if (!probability) return out + "; the noise is unknown with less than two runs of each (-r)\n";
  const bool larger = *probability < kSignificant;
  const std::string p = *probability < 0.001 ? "p < 0.001" : fmt::format("p = {:.3f}", *probability);
  return out + fmt::format("; {} than the noise ({})\n", larger ? "larger" : "not larger", p);
}

Json comparison_json(std::string_view file, const std::vector<double>& before,
                     const std::vector<double>& now) {
  const Sample first = sample_of(before), second = sample_of(now);
  Json json = {{"file", file}, {"mean", rounded(first.mean).value}};
  if (const auto change = change_percent(first.mean, second.mean)) json["changePercent"] = *change;
  if (const auto probability = welch_probability(first, second)) {
    json["probability"] = *probability;
    json["significant"] = *probability < kSignificant;
  }
  return json;
}

namespace {

Result<Json> parse_phases(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return Json{{"phases", Json::array()}};
  auto json = varlink::parse_json(text);
  if (!json || !field(*json, "phases").is_array())
    return Error{"not a file of phases: expected {\"phases\":[...]}, as --append writes it"};
  return *std::move(json);
}

}  // namespace

Result<std::string> append_phase(std::string_view text, const Json& run) {
  auto file = parse_phases(text);
  if (!file) return file.error();
  (*file)["phases"].push_back(run);
  return file->dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::string> phases_table(std::string_view text, const TableStyle& style) {
  const auto file = parse_phases(text);
  if (!file) return file.error();
  Table table({{"PHASE", Align::kLeft},
               {"ENERGY"},
               {"POWER"},
               {"TIME"},
               {"CPU"},
               {"COMMAND", Align::kLeft, Keep::kStart}});
  std::int64_t energy = 0, time = 0, cpu = 0, most_power = 0;
  bool complete = true;
  for (const Json& run : field(*file, "phases")) {
    energy += integer_field(run, "energyMicrojoules").value_or(0);
    most_power = std::max(most_power, integer_field(run, "meanMicrowatts").value_or(0));
  }
  const ColumnUnit powers(Quantity::kPower, most_power);
  for (const Json& run : field(*file, "phases")) {
    std::vector<std::string> words;
    for (const Json& word : client::elements(field(run, "command")))
      if (word.is_string()) words.push_back(word.get<std::string>());
    const Json& attached = field(run, "attached");
    const std::string what = attached.is_object()
                                 ? name_text(attached, "kind") + " " + name_text(attached, "id")
                                 : command_line(words);
    table.add_row({name_text(run, "label"), energy_text(run, "energyMicrojoules"),
                   powers.text(integer_field(run, "meanMicrowatts").value_or(-1)),
                   time_text(run, "durationUsec"), time_text(run, "cpuUsec"), what});
    complete = complete && integer_field(run, "energyMicrojoules");
    time += integer_field(run, "durationUsec").value_or(0);
    cpu += integer_field(run, "cpuUsec").value_or(0);
  }
  if (table.empty()) return std::string("No phases.\n");
  const Json total = {{"time", time}, {"cpu", cpu}};
  table.add_row({"total", (complete ? "" : "at least ") + format_energy({energy}), "",
                 time_text(total, "time"), time_text(total, "cpu"), ""});
  return table.text(style);
}

}  // namespace keplerd::cli::run
