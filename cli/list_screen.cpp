// SPDX-License-Identifier: Apache-2.0
// Formats lists of rows.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/columns.h"
#include "cli/output/column_unit.h"
#include "cli/rows.h"
#include "cli/rows_table.h"
#include "cli/screens.h"
#include "cli/wall.h"
#include "varlink/json.h"

namespace keplerd::cli {
namespace {

std::string count_text(std::size_t count, const client::KindInfo& kind) {
  return fmt::format("{} {}", count, count == 1 ? kind.word : kind.words);
}

struct Counts {
  std::size_t shown = 0, all = 0;
  Hidden hidden;
  std::optional<std::int64_t> together;  // microwatts
};

std::string counts_text(const ListScreen& screen, const Counts& counts) {
  const client::KindInfo& kind = screen.kind;
  const bool none = kind.guests && counts.shown == 0;
  std::string out = count_text(counts.all, kind);
  if (none) {
    const bool all = sees_everything(screen.status);  // otherwise those of others may be running
    out = fmt::format("No {}{} are running", kind.words, all ? "" : " of yours");
  }
  if (!none && counts.shown != counts.all) out = fmt::format("{} of {}", counts.shown, out);
  if (counts.hidden.ended > 0)
    out += fmt::format(", {} terminated not shown (--all shows them)", counts.hidden.ended);
  if (counts.hidden.other_types > 0) {
    out +=
        fmt::format(", {} slices and inner cgroups not shown (--tree shows them)", counts.hidden.other_types);
  }
  if (!none && counts.together) {
    out +=
        fmt::format(", {} in total", ColumnUnit(Quantity::kPower, *counts.together).text(*counts.together));
  }
  return out;
}

// "1.50 W shown + 0.80 W other = 2.30 W"; empty if one of both is not known, or the host's is less.
std::string sum_text(Quantity quantity, std::optional<std::int64_t> shown, std::optional<std::int64_t> host) {
  if (!shown || !host || *shown > *host) return "";
  const ColumnUnit unit(quantity, *host);
  return fmt::format("{} shown + {} other = {}", unit.text(*shown), unit.text(*host - *shown),
                     unit.text(*host));
}

bool ends_with_sums(client::Kind kind) {
  return kind == client::Kind::kContainers || kind == client::Kind::kPods || kind == client::Kind::kProcesses;
}

// What makes rows add up to the host. Others are kernel threads, workloads of another kind, those that have
// ended, and those that are not shown.
std::string sums_line(const ListScreen& screen, const std::vector<Json>& shown) {
  const auto sum_of = [&](std::string_view amount) {
    return sum_without_nested(shown, screen.kind.kind, amount);
  };
  auto active = sum_of("powerMicrowatts");
  if (active) *active -= sum_of("idleMicrowatts").value_or(0);  // what was placed on them
  const Json& host = field(screen.status, "host");
  const std::string power = sum_text(Quantity::kPower, active, integer_field(host, "activeMicrowatts"));
  const std::string energy =
      sum_text(Quantity::kEnergy, sum_of("activeMicrojoules"), integer_field(host, "activeMicrojoules"));
  if (power.empty() && energy.empty()) return "";
  return fmt::format("Host, active: {}{}{}.\n", power, power.empty() || energy.empty() ? "" : "; ", energy);
}

// "Idle=size instead of Idle=separate: 25.00 W of idle power would stay with the host."
std::string policy_line(const ListScreen& screen) {
  const std::string in_effect = string_field(screen.status, "idle").value_or("");
  const std::string policies = fmt::format("Idle={} instead of Idle={}", screen.options.idle, in_effect);
  if (!screen.policy_host) return policies + ": not known, because the power of the host is not known.\n";
  return fmt::format("{}: {} of idle power would stay with the host.\n", policies,
                     ColumnUnit(Quantity::kPower, *screen.policy_host).text(*screen.policy_host));
}

// How many rows were omitted from a list, and the host's totals.
std::string footer(const ListScreen& screen, const std::vector<Json>& shown, const Counts& counts) {
  const bool no_units = screen.kind.kind == client::Kind::kUnits && counts.all == 0 &&
                        screen.options.types.empty() && sees_everything(screen.status);
  std::string out =
      no_units ? "No units are known: run 'keplerctl doctor' for the reason" : counts_text(screen, counts);
  if (!was_never_measured(screen.status)) out += ". Host: " + accounts_line(screen.status);
  out += ".\n";
  if (!screen.options.idle.empty()) out += policy_line(screen);
  const bool device_models = std::any_of(
      shown.begin(), shown.end(), [](const Json& row) { return bool_field(row, "guestElsewhere") == true; });
  if (device_models) out += std::string(kDeviceModelOnly) + "\n";
  const bool measured = !host_line(screen.status).empty();
  if (ends_with_sums(screen.kind.kind) && measured && sees_everything(screen.status))
    out += sums_line(screen, shown);
  if (screen.wall != nullptr)
    out += screen.wall->text(screen.wall->sums(shown, screen.kind.kind), "shown") + "\n";
  return wrap_words(out, screen.style.width);
}

}  // namespace

std::string list_screen(const ListScreen& screen, std::vector<Json> rows) {
  const Options& options = screen.options;
  add_graphics(rows);
  if (was_never_measured(screen.status)) remove_energies(rows);
  Counts counts{.all = rows.size()};
  if (screen.kind.guests) counts.together = sum_without_nested(rows, screen.kind.kind, "powerMicrowatts");
  counts.hidden = hide_rows(rows, screen.kind.kind, options);
  if (!options.types.empty()) counts.all = rows.size() + counts.hidden.ended, counts.hidden.other_types = 0;
  if (options.sort.empty()) sort_rows(rows, "power");
  std::vector<std::string> leads;
  if (options.tree) {
    std::vector<TreeRow> tree = tree_of(rows, screen.style.unicode);
    rows.clear();
    for (TreeRow& row : tree) {
      rows.push_back(std::move(row.row));
      leads.push_back(std::move(row.lead));
    }
  }
  if (options.limit && rows.size() > *options.limit) rows.resize(*options.limit);
  counts.shown = rows.size();

  const Table table = rows_table({.columns = columns_of(screen.kind.kind),
                                  .host = field(screen.status, "host"),
                                  .with_ended = options.all,
                                  .leads = leads.empty() ? nullptr : &leads,
                                  .policy = options.idle},
                                 rows);
  if (!options.legend) return table.text(screen.style);
  std::string out = screen_head(screen.status, screen.style);
  if (!table.empty()) out += table.text(screen.style) + (options.quiet ? "" : "\n");
  return options.quiet ? out : out + footer(screen, rows, counts);
}

}  // namespace keplerd::cli
