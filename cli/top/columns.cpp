// SPDX-License-Identifier: Apache-2.0
#include "cli/top/columns.h"

#include <algorithm>

#include "cli/output/human.h"
#include "cli/screens.h"

namespace keplerd::cli::top {
namespace {

constexpr int kGap = 2;
constexpr int kTrendWidth = 16;
constexpr int kStateWidth = 10;

TopColumn power(std::string_view header, std::string_view name, int from = 0) {
  return {header,       8,
          from,         Align::kRight,
          Keep::kStart, [name](const State&, const Json& row) { return power_text(row, name); }};
}

TopColumn energy(std::string_view header, std::string_view name, int from) {
  return {header,       8,
          from,         Align::kRight,
          Keep::kStart, [name](const State&, const Json& row) { return energy_text(row, name); }};
}

// Of all the host's energy since it is counted.
TopColumn share(int from) {
  return {"SHARE", 6, from, Align::kRight, Keep::kStart, [](const State& state, const Json& row) {
            const auto part = integer_field(row, "energyMicrojoules");
            const auto whole = integer_field(field(state.status, "host"), "energyMicrojoules");
            return part ? format_percent(*part, whole.value_or(0)) : "-";
          }};
}

TopColumn cpu_time(int from) {
  return {"CPU",        9,
          from,         Align::kRight,
          Keep::kStart, [](const State&, const Json& row) { return time_text(row, "cpuUsec"); }};
}

TopColumn process_id(int from) {
  return {"PID", 7, from, Align::kRight, Keep::kStart, [](const State&, const Json& row) {
            const auto pid = integer_field(row, "pid");
            return pid ? std::to_string(*pid) : "-";
          }};
}

TopColumn trend(int from) {
  return {"TREND", kTrendWidth, from, Align::kLeft, Keep::kEnd, [](const State& state, const Json& row) {
            const auto found = state.histories.find(string_field(row, "id").value_or(""));
            if (found == state.histories.end()) return std::string();
            return graph(found->second, kTrendWidth, 1, state.unicode).front();
          }};
}

TopColumn text(std::string_view header, std::string_view name, int width, int from = 0,
               Keep keep = Keep::kStart) {
  return {header,       width, from,
          Align::kLeft, keep,  [name](const State&, const Json& row) { return name_text(row, name); }};
}

TopColumn ended() {
  TopColumn column = text("STATE", "state", kStateWidth);
  column.only_with_ended = true;
  return column;
}

TopColumn vm_name() {
  return {"NAME",       29,           0,
          Align::kLeft, Keep::kStart, [](const State&, const Json& row) { return vm_name_text(row); }};
}

TopColumn in_total(int from) {
  return {"TOTAL", 5, from, Align::kLeft, Keep::kStart, [](const State&, const Json& row) -> std::string {
            const auto counts = bool_field(row, "inTotal");
            if (!counts) return "-";
            return *counts ? "yes" : "no";
          }};
}

std::vector<const TopColumn*> shown_columns(const State& state) {
  const auto& columns = tabs()[state.tab].columns;
  const auto is_ended = [](const TopColumn& column) { return column.only_with_ended; };
  const bool ended = state.all && std::any_of(columns.begin(), columns.end(), is_ended);
  const int width = state.size.width - (ended ? kStateWidth + kGap : 0);
  std::vector<const TopColumn*> out;
  for (const TopColumn& column : columns) {
    if (column.only_with_ended ? ended : width >= column.from) out.push_back(&column);
  }
  return out;
}

template <typename MakeCell>
std::string line_text(const State& state, MakeCell make_cell) {
  const auto columns = shown_columns(state);
  std::string out;
  int left = state.size.width;
  for (const TopColumn* column : columns) {
    const bool last = column == columns.back();
    const int width = last ? left : std::min(column->width, left);
    std::string cell = make_cell(*column);
    if (cell.empty()) cell = "-";
    out += column->align == Align::kRight ? pad_left(cell, width, column->keep, state.unicode)
                                          : pad_right(cell, width, column->keep, state.unicode);
    left -= width;
    const int gap = std::clamp(left, 0, kGap);
    out.append(static_cast<std::size_t>(gap), ' ');
    left -= gap;
  }
  return out;
}

}  // namespace

const std::vector<Tab>& tabs() {
  // A unit is shown by its path, not its name: every user has an init.scope.
  static const std::vector<Tab> kTabs = {
      {"units",
       {power("POWER", "powerMicrowatts"), energy("ENERGY", "energyMicrojoules", 32), share(56),
        energy("OWN", "ownMicrojoules", 72), cpu_time(64), trend(110), ended(),
        text("UNIT", "id", 0, 0, Keep::kEnd)}},
      {"vms",
       {power("POWER", "powerMicrowatts"), energy("ENERGY", "energyMicrojoules", 32), share(56), cpu_time(64),
        trend(110), ended(), vm_name(), text("HYPERVISOR", "hypervisor", 10, 80), process_id(90),
        text("UUID", "id", 36, 145)}},
      {"containers",
       {power("POWER", "powerMicrowatts"), energy("ENERGY", "energyMicrojoules", 32), share(56), cpu_time(64),
        trend(114), ended(), text("NAME", "name", 29), text("RUNTIME", "runtime", 10, 80),
        text("ID", "id", 64, 96)}},
      {"pods",
       {power("POWER", "powerMicrowatts"), energy("ENERGY", "energyMicrojoules", 32), share(56), cpu_time(64),
        trend(110), ended(), text("NAMESPACE", "namespace", 14, 80), text("NAME", "name", 40),
        text("UID", "id", 36, 151)}},
      {"processes",
       {power("POWER", "powerMicrowatts"), energy("ENERGY", "energyMicrojoules", 48), share(56), cpu_time(64),
        trend(110), ended(), process_id(28), text("NAME", "name", 16),
        text("UNIT", "unit", 0, 72, Keep::kEnd)}},
      {"zones",
       {power("POWER", "powerMicrowatts"), power("ACTIVE", "activeMicrowatts", 56),
        power("IDLE", "idleMicrowatts", 56), energy("ENERGY", "energyMicrojoules", 32), trend(110),
        text("QUALITY", "quality", 9, 64), in_total(72), text("ZONE", "id", 0)}},
  };
  return kTabs;
}

std::size_t find_tab(std::string_view kind) {
  const auto found =
      std::find_if(tabs().begin(), tabs().end(), [&](const Tab& tab) { return tab.kind == kind; });
  return found == tabs().end() ? 0 : static_cast<std::size_t>(found - tabs().begin());
}

std::string head_text(const State& state) {
  return line_text(state, [](const TopColumn& column) { return std::string(column.header); });
}

std::string row_text(const State& state, const Json& row) {
  return line_text(state, [&](const TopColumn& column) { return column.text(state, row); });
}

}  // namespace keplerd::cli::top
