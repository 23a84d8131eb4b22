// SPDX-License-Identifier: Apache-2.0
// A run for people.
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/fields.h"
#include "cli/output/column_unit.h"
#include "cli/output/human.h"
#include "cli/output/scales.h"
#include "cli/output/terminal.h"
#include "cli/run/report.h"
#include "cli/screens.h"
#include "varlink/json.h"

namespace keplerd::cli::run {
namespace {

constexpr std::size_t kProgramsShown = 5;
constexpr std::size_t kRunningShown = 10;

std::string line(std::string_view label, std::string_view value) {
  return fmt::format("{:>16}: {}\n", label, value);
}

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
  if (resolution.value < 1000) return format_energy(resolution);
  return fmt::format("{:.2g} J", static_cast<double>(resolution.value) / 1e6);
}

std::string source_text(const Json& source) {
  const std::string name = name_text(source, "name");
  const std::string quality = name_text(source, "quality");
  return quality.empty() || quality == name ? name : name + ", " + quality;
}

std::string energy_line(const Report& report) {
  std::string text = resolved_energy(*report.energy, report.resolution);
  if (report.error && is_resolved(report)) text += " \u00b1 " + format_energy(*report.error);
  return line("Energy", text);
}

std::string cost_line(const Report& report) {
  if (!is_resolved(report)) return {};
  std::string text;
  if (report.rates.price)
    text = format_cost(cost_of(*report.energy, *report.rates.price)) + " " + report.rates.currency;
  if (report.rates.carbon)
    text += (text.empty() ? "" : ", ") + format_carbon(carbon_of(*report.energy, *report.rates.carbon));
  return text.empty() ? "" : line("Cost", text);
}

std::string share_line(const Report& report) {
  if (!report.active || !is_resolved(report) || report.host_active.value_or(Microjoules{0}).value <= 0)
    return {};
  return line("Share", format_percent(report.active->value, report.host_active->value) +
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

std::string programs_line(const Report& report) {
  std::string text = parts_text(report.programs, report.resolution);
  if (text.empty()) return {};
  if (report.other && *report.other >= report.resolution)
    text += ", other " + resolved_energy(*report.other, report.resolution);
  return line("Programs", text);
}

std::string running_line(const Report& report) {
  if (report.still_running.empty()) return {};
  std::string text;
  for (std::size_t i = 0; i < report.still_running.size() && i < kRunningShown; ++i)
    text += (text.empty() ? "" : ", ") + printable(report.still_running[i]);
  if (report.still_running.size() > kRunningShown)
    text += fmt::format(" and {} more", report.still_running.size() - kRunningShown);
  return line("Still running", text);
}

std::string idle_line(const Report& report) {
  if (report.host_idle.value_or(Microjoules{0}).value <= 0) return {};
  const std::string included =
      report.idle ? resolved_energy(*report.idle, report.resolution) + " of it included" : "not included";
  return line("Host's idle", format_energy(*report.host_idle) + " in this time, " + included);
}

std::string measured_lines(const Report& report) {
  std::string out = energy_line(report) + cost_line(report);
  if (report.mean_power) out += line("Mean power", format_power(*report.mean_power));
  if (report.peak_power) out += line("Peak power", format_power(*report.peak_power));
  out += share_line(report);
  out += idle_line(report);
  const std::string zones = parts_text(report.zones, report.resolution);
  if (!zones.empty()) out += line("Zones", zones);
  return out + programs_line(report);
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
  return format_energy(energy);
}

std::string report_text(const Report& report, bool colour) {
  Json status = Json::object();
  status["source"] = report.source;
  std::string out = "\n";
  if (report.energy) {
    if (const auto warning = source_warning(status)) out += paint(*warning, Paint::kWarning, colour) + "\n";
  }
  if (report.attached) {
    out += line("Attached", report.attached->description + (report.attached->ended ? ", ended" : ""));
  } else {
    out += line("Command", command_line(report.command));
  }
  if (!report.label.empty()) out += line("Label", printable(report.label));
  if (report.exit_status != 0) out += line("Exit status", std::to_string(report.exit_status));
  if (report.energy) {
    out += measured_lines(report);
  } else {
    out += line("Energy", "not measured: " + printable(report.problem));
  }
  out += line("Time", format_time(report.duration));
  if (report.cpu) out += line("CPU time", format_time(*report.cpu));
  if (report.energy) {
    out += line("Resolution", resolution_text(report.resolution));
    out += line("Source", source_text(report.source));
    if (!report.problem.empty()) out += line("Incomplete", printable(report.problem));
  }
  return out + running_line(report);
}

}  // namespace keplerd::cli::run
