// SPDX-License-Identifier: Apache-2.0
#include "cli/screens.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/columns.h"
#include "cli/fields.h"
#include "cli/output/human.h"
#include "cli/output/terminal.h"
#include "varlink/json.h"

namespace keplerd::cli {
namespace {

struct Account {
  const char* field;
  std::string_view meaning;
};
constexpr std::array<Account, 4> kAccounts = {{{"idle", "nothing ran"},
                                               {"kernel", "kernel threads and interrupts"},
                                               {"workloads", "units and processes"},
                                               {"unattributed", "not attributable to any process"}}};

bool is_terminated(const Json& row) { return string_field(row, "state") == "terminated"; }

std::string count_text(std::size_t count, const client::KindInfo& kind) {
  return fmt::format("{} {}", count, count == 1 ? kind.word : kind.words);
}

std::string source_text(const Json& status) {
  const Json& source = field(status, "source");
  const std::string name = name_text(source, "name");
  const std::string quality = name_text(source, "quality");
  return quality.empty() || quality == name ? name : name + ", " + quality;
}

bool is_within(std::string_view unit, const std::set<std::string, std::less<>>& units) {
  for (auto slash = unit.rfind('/'); slash != std::string_view::npos && slash > 0; slash = unit.rfind('/')) {
    unit = unit.substr(0, slash);
    if (units.contains(unit)) return true;
  }
  return false;
}

// The total power of the rows. A container within a container or pod is included in that one's power; the
// cgroup determines which one, as there may be cgroups of another kind in between. Unset if no power is
// known.
std::optional<Microwatts> power_together(const std::vector<Json>& rows) {
  std::set<std::string, std::less<>> including;  // units of rows that include what is inside them
  for (const Json& row : rows) {
    const auto unit = string_field(row, "unit");
    const bool includes =
        field(row, "ownMicrojoules").is_number() && field(row, "powerMicrowatts").is_number();
    if (unit && includes) including.insert(*unit);
  }
  std::optional<Microwatts> sum;
  for (const Json& row : rows) {
    const auto power = integer_field(row, "powerMicrowatts");
    if (!power || is_within(string_field(row, "unit").value_or(""), including)) continue;
    if (!sum) sum = Microwatts{0};
    if (__builtin_add_overflow(sum->value, *power, &sum->value)) return std::nullopt;
  }
  return sum;
}

bool is_printed(const RowColumn& column, const std::vector<Json>& rows, bool with_ended) {
  const auto has = [&](const Json& row) { return !field(row, column.where_any_has).is_null(); };
  if (!column.printed || (column.with_ended && !with_ended)) return false;
  return column.where_any_has.empty() || std::any_of(rows.begin(), rows.end(), has);
}

Table rows_table(const ListScreen& screen, const std::vector<Json>& rows) {
  std::vector<Column> columns;
  std::vector<CellText> texts;
  for (const RowColumn& column : columns_of(screen.kind.kind)) {
    if (!is_printed(column, rows, screen.options.all)) continue;
    columns.push_back(column.column);
    texts.push_back(column.text);
  }
  Table table(std::move(columns));
  for (const Json& row : rows) {
    std::vector<std::string> cells;
    cells.reserve(texts.size());
    for (const CellText& text : texts) cells.push_back(text(row, field(screen.status, "host")));
    table.add_row(std::move(cells));
  }
  return table;
}

struct Counts {
  std::size_t shown = 0, all = 0, hidden = 0;
  std::optional<Microwatts> together;
};

std::string counts_text(const client::KindInfo& kind, const Counts& counts) {
  const bool none = kind.guests && counts.shown == 0;
  std::string out = none ? fmt::format("No {} are running", kind.words) : count_text(counts.all, kind);
  if (!none && counts.shown != counts.all) out = fmt::format("{} of {}", counts.shown, out);
  if (counts.hidden > 0) out += fmt::format(", {} terminated not shown (--all shows them)", counts.hidden);
  if (!none && counts.together) {
    out += fmt::format(", {} {}together", format_power(*counts.together),
                       counts.shown == counts.all ? "" : "all ");
  }
  return out;
}

// How many rows were omitted from a list, and the host's totals.
std::string footer(const ListScreen& screen, const std::vector<Json>& shown, const Counts& counts) {
  std::string out = counts_text(screen.kind, counts) + ". Host: " + accounts_line(screen.status) + ".\n";
  if (!sees_everything(screen.status)) out += std::string(kPublicView) + "\n";
  const bool device_models = std::any_of(
      shown.begin(), shown.end(), [](const Json& row) { return bool_field(row, "guestElsewhere") == true; });
  if (device_models) out += std::string(kDeviceModelOnly) + "\n";
  return out;
}

// The split of the host's energy, each part with its share.
std::string accounts_table(const Json& status) {
  Table table({{"ENERGY"}, {"SHARE"}, {"ACCOUNT", Align::kLeft}, {"DESCRIPTION", Align::kLeft}});
  const Json& accounts = field(status, "accounts");
  const auto total = integer_field(field(status, "host"), "energyMicrojoules");
  for (const Account& account : kAccounts) {
    table.add_row({energy_text(accounts, account.field), share_text(accounts, account.field, total),
                   account.field, std::string(account.meaning)});
  }
  table.add_row({energy_text(field(status, "host"), "energyMicrojoules"), "", "host", "total"});
  return table.text();
}

// "0.34 % of a processor, 2.6 MiB, 12.1 mW, 3.42 J since it was started": the known values.
std::string own_cost_text(const Json& status) {
  std::vector<std::string> parts;
  if (const auto percent = own_cpu_percent(status))
    parts.push_back(fmt::format("{:.2f} % of a CPU", *percent));
  if (const auto memory = integer_field(status, "daemonMemoryBytes"))
    parts.push_back(fmt::format("{:.1f} MiB", static_cast<double>(*memory) / (1 << 20)));
  if (const auto power = integer_field(status, "daemonMicrowatts")) parts.push_back(format_power({*power}));
  if (const auto energy = integer_field(status, "daemonMicrojoules"))
    parts.push_back(format_energy({*energy}) + " since it started");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string interval_text(const Json& status) {
  const auto interval = integer_field(status, "intervalUsec");
  if (interval == 0) return "on demand";
  return "every " + time_text(status, "intervalUsec");
}

}  // namespace

std::optional<std::string> source_warning(const Json& status) {
  const Json& source = field(status, "source");
  const std::string quality = name_text(source, "quality");
  const std::string reason = name_text(source, "reason");
  if (quality == "simulated") return "SIMULATED: no meter is read, the numbers are invented";
  if (quality == "estimated")
    return "ESTIMATED: no meter is read, the numbers are estimated from the CPU load";
  if (!quality.empty() && string_field(source, "name") != "none") return std::nullopt;
  return "NOT MEASURED: " + (reason.empty() ? "no meter" : reason) + "; run 'keplerctl doctor' for details";
}

std::string source_line(const Json& status, bool colour) {
  const Json& host = field(status, "host");
  std::string out;
  if (const auto warning = source_warning(status)) {
    const auto colon = warning->find(':');
    out = paint(warning->substr(0, colon), Paint::kWarning, colour) + warning->substr(colon) + ". ";
  }
  out += fmt::format("Host {} ({})", power_text(host, "powerMicrowatts"), source_text(status));
  if (integer_field(host, "activeMicrowatts")) {
    out += fmt::format(": {} active, {} idle", power_text(host, "activeMicrowatts"),
                       power_text(host, "idleMicrowatts"));
  }
  return out;
}

bool sees_everything(const Json& status) { return field(status, "accounts").is_object(); }

std::string accounts_line(const Json& status) {
  const Json& accounts = field(status, "accounts");
  std::string out = energy_text(field(status, "host"), "energyMicrojoules");
  if (!sees_everything(status)) return out;
  out += " =";
  for (const Account& account : kAccounts) {
    const bool first = out.ends_with("=");
    out += fmt::format("{} {} {}", first ? "" : " +", energy_text(accounts, account.field), account.field);
  }
  return out;
}

std::string list_screen(const ListScreen& screen, std::vector<Json> rows) {
  const Options& options = screen.options;
  Counts counts{.all = rows.size()};
  if (screen.kind.guests) counts.together = power_together(rows);
  if (!options.all) std::erase_if(rows, is_terminated);
  counts.hidden = counts.all - rows.size();
  if (options.limit && rows.size() > *options.limit) rows.resize(*options.limit);
  counts.shown = rows.size();

  const Table table = rows_table(screen, rows);
  if (!options.legend) return table.text(screen.style);
  std::string out = source_line(screen.status, screen.style.bold_header) + "\n\n";
  if (!table.empty()) out += table.text(screen.style) + "\n";
  return out + footer(screen, rows, counts);
}

std::string status_screen(const Json& status, bool legend, bool colour) {
  const Json& host = field(status, "host");
  std::string out = legend ? source_line(status, colour) + "\n\n" : "";
  const auto line = [&out](std::string_view label, std::string_view value) {
    out += fmt::format("{:>12}: {}\n", label, value);
  };
  const bool share = string_field(field(status, "source"), "name") == "guest";
  line("Source", source_text(status) + (share ? ": the host's share for this virtual machine" : ""));
  if (const std::string reason = name_text(field(status, "source"), "reason"); !reason.empty()) {
    line("Reason", reason);
  }
  line("Power", power_text(host, "powerMicrowatts"));
  line("Energy", fmt::format("{} ({} active, {} idle)", energy_text(host, "energyMicrojoules"),
                             energy_text(host, "activeMicrojoules"), energy_text(host, "idleMicrojoules")));
  line("Since", date_text(status, "sinceUsec"));
  line("Sampled", fmt::format("{}, {}, over {}", date_text(status, "realtimeUsec"), interval_text(status),
                              time_text(status, "windowUsec")));
  line("Rules", fmt::format("split {}, share {}, idle {}", name_text(status, "split"),
                            name_text(status, "share"), name_text(status, "idle")));
  if (const std::string cost = own_cost_text(status); !cost.empty()) line("Itself", cost);
  if (const auto discarded = integer_field(status, "discardedWindows"); discarded > 0) {
    line("Discarded", fmt::format("{} windows of a zone (see the journal)", *discarded));
  }
  return out + "\n" + (sees_everything(status) ? accounts_table(status) : std::string(kPublicView) + "\n");
}

}  // namespace keplerd::cli
