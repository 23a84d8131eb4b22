// SPDX-License-Identifier: Apache-2.0
// A run for people.
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/fields.h"
#include "cli/output/column_unit.h"
#include "cli/output/human.h"
#include "cli/output/property_list.h"
#include "cli/output/scales.h"
#include "cli/output/terminal.h"
#include "cli/output/width.h"
#include "cli/run/report.h"
#include "cli/screens.h"
#include "varlink/json.h"

namespace keplerd::cli::run {
namespace {

constexpr std::size_t kProgramsShown = 5;
constexpr std::size_t kRunningShown = 10;

// Words of the shell: what needs no quotes in it.
bool is_plain_word(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,./:@%^";
  return !word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos;
}

std::string shell_word(std::string_view word) {
  if (is_plain_word(word)) return std::string(word);
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// "0.1 J", "0.042 J", "61 uJ".
std::string resolution_text(Microjoules resolution) {
  if (resolution.value < 1000) return cli::format_energy(resolution);
  return fmt::format("{:.2g} J", static_cast<double>(resolution.value) / 1e6);
}

std::string source_text(const Json& source) {
  const std::string name = name_text(source, "name");
  const std::string quality = name_text(source, "quality");
  return quality.empty() || quality == name ? name : name + ", " + quality;
}

void add_energy(PropertyList& list, const Report& report) {
  std::string text = resolved_energy(*report.energy, report.resolution);
  if (report.error && is_resolved(report)) text += " +- " + cli::format_energy(*report.error);
  list.add("Energy", text);
}

void add_cost(PropertyList& list, const Report& report) {
  if (!is_resolved(report)) return;
  std::string text;
  if (report.rates.price)
    text = format_cost(cost_of(*report.energy, *report.rates.price)) + " " + report.rates.currency;
  if (report.rates.carbon)
    text += (text.empty() ? "" : ", ") + format_carbon(carbon_of(*report.energy, *report.rates.carbon));
  if (!text.empty()) list.add("Cost", text);
}

void add_share(PropertyList& list, const Report& report) {
  if (!report.active || !is_resolved(report) || report.host_active.value_or(Microjoules{0}).value <= 0)
    return;
  list.add("Share", format_percent(report.active->value, report.host_active->value) +
                        " of the host's active energy between the samples");
}

// "cc1plus 12.3 J, ld 1.1 J, 3 more 0.2 J".
std::string parts_text(const std::vector<Part>& parts, Microjoules resolution) {
  std::string out;
  Microjoules rest{0};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i >= kProgramsShown || parts[i].energy < resolution) {
      rest += parts[i].energy;
      continue;
    }
    out += (out.empty() ? "" : ", ") + parts[i].name + " " + resolved_energy(parts[i].energy, resolution);
  }
  if (rest >= resolution && !out.empty()) out += ", less than these " + resolved_energy(rest, resolution);
  return out;
}

void add_programs(PropertyList& list, const Report& report) {
  std::string text = parts_text(report.programs, report.resolution);
  if (text.empty()) return;
  if (report.other && *report.other >= report.resolution)
    text += ", other " + resolved_energy(*report.other, report.resolution);
  list.add("Programs", text);
}

void add_running(PropertyList& list, const Report& report) {
  if (report.still_running.empty()) return;
  std::string text;
  for (std::size_t i = 0; i < report.still_running.size() && i < kRunningShown; ++i)
    text += (text.empty() ? "" : ", ") + printable(report.still_running[i]);
  if (report.still_running.size() > kRunningShown)
    text += fmt::format(" and {} more", report.still_running.size() - kRunningShown);
  list.add("Still running", text);
}

void add_idle(PropertyList& list, const Report& report) {
  if (report.host_idle.value_or(Microjoules{0}).value <= 0) return;
  const std::string included =
      report.idle ? resolved_energy(*report.idle, report.resolution) + " of it included" : "not included";
  list.add("Host's idle", cli::format_energy(*report.host_idle) + " in this time, " + included);
}

void add_measured(PropertyList& list, const Report& report) {
  add_energy(list, report);
  add_cost(list, report);
  if (report.mean_power) list.add("Mean power", format_power(*report.mean_power));
  if (report.peak_power) list.add("Peak power", format_power(*report.peak_power));
  add_share(list, report);
  add_idle(list, report);
  const std::string zones = parts_text(report.zones, report.resolution);
  if (!zones.empty()) list.add("Zones", zones);
  add_programs(list, report);
}

}  // namespace

std::string command_line(const std::vector<std::string>& command) {
  std::string out;
  for (const std::string& word : command) out += (out.empty() ? "" : " ") + shell_word(word);
  return escape_name(out);
}

std::string resolved_energy(Microjoules energy, Microjoules resolution) {
  if (energy < resolution) return "less than " + resolution_text(resolution);
  for (const Scale& scale : kEnergyScales) {
    if (energy.value / scale.size >= scale.limit) continue;
    std::int64_t step = scale.size;  // of the last digit
    int decimals = 0;
    // Three significant digits, of which each is worth at least the resolution.
    while (step >= 10 && energy.value / step < 100 && step / 10 >= resolution.value && decimals < 2) {
      step /= 10;
      ++decimals;
    }
    if (step < resolution.value) continue;  // the next unit has coarser digits
    const std::int64_t digits = (energy.value + step / 2) / step;
    const auto shown = static_cast<double>(digits) / std::pow(10, decimals);
    return fmt::format("{:.{}f} {}", shown, decimals, scale.name);
  }
  return cli::format_energy(energy);
}

std::string report_text(const Report& report, const TableStyle& style) {
  Json status = Json::object();
  status["source"] = report.source;
  std::string head = "\n";
  if (report.energy) {
    if (const auto warning = source_warning(status))
      head += paint(*warning, Paint::kWarning, style.bold_header) + "\n";
  }
  PropertyList list(kLabelWidth, style);
  if (report.attached) {
    list.add("Attached", report.attached->description + (report.attached->ended ? ", ended" : ""));
  } else {
    list.add_line("Command", command_line(report.command));
  }
  if (!report.label.empty()) list.add("Label", printable(report.label));
  if (report.exit_status != 0) list.add("Exit status", std::to_string(report.exit_status));
  if (report.energy) {
    add_measured(list, report);
  } else {
    list.add("Energy", "not measured: " + printable(report.problem));
  }
  list.add("Time", format_time(report.duration));
  if (report.cpu) list.add("CPU time", format_time(*report.cpu));
  if (report.energy) {
    list.add("Resolution", resolution_text(report.resolution));
    list.add("Source", source_text(report.source));
    if (!report.problem.empty()) list.add("Incomplete", printable(report.problem));
  }
  add_running(list, report);
  return wrap_words(head, style.width) + list.text();
}

}  // namespace keplerd::cli::run
