// SPDX-License-Identifier: Apache-2.0
#include "cli/top/state.h"

#include <algorithm>
#include <utility>

#include "cli/output/width.h"
#include "cli/rows.h"
#include "cli/screens.h"
#include "cli/top/columns.h"
#include "cli/top/screen.h"

namespace keplerd::cli::top {
namespace {

constexpr std::size_t kMostFilter = 255;

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// Also matches the enclosing workload, to show everything of one unit or guest. `filter` is in lower case.
bool matches(const Json& row, const std::string& filter) {
  if (filter.empty()) return true;
  for (const char* name : {"id", "name", "unit", "namespace", "podId", "containerId", "virtualMachineId"}) {
    if (lower(name_text(row, name)).find(filter) != std::string::npos) return true;
  }
  return false;
}

std::string id_of(const Json& row) { return string_field(row, "id").value_or(""); }

void keep_selection_on_screen(State& state) {
  const std::size_t count = state.rows.size();
  state.selected = count == 0 ? 0 : std::min(state.selected, count - 1);
  const auto room = static_cast<std::size_t>(std::max(list_room(state), 1));
  if (state.selected < state.first) state.first = state.selected;
  if (state.selected >= state.first + room) state.first = state.selected - room + 1;
  state.first = std::min(state.first, count > room ? count - room : 0);
}

void follow_pinned_row(State& state) {
  if (state.pinned.empty()) return;
  const auto found = std::find_if(state.rows.begin(), state.rows.end(),
                                  [&](const Json& row) { return string_field(row, "id") == state.pinned; });
  if (found != state.rows.end()) state.selected = static_cast<std::size_t>(found - state.rows.begin());
}

// Of all known rows, so that columns remain when others are filtered out.
void find_added_fields(State& state) {
  state.added.clear();
  if (state.wall) state.added.push_back(kWallField);
  const bool graphics = std::ranges::any_of(
      state.set.rows(), [](const auto& row) { return graphics_power(row.second).has_value(); });
  if (graphics) state.added.push_back(kGraphicsField);
}

void add_fields(State& state) {
  find_added_fields(state);
  add_graphics(state.rows);
  if (state.wall) state.wall->add_to(state.rows);
}

int longest_text(const State& state, const RowColumn& column) {
  int longest = 0;
  for (const Json& row : state.rows) {
    const std::string text = cell_text(column, std::nullopt, row, Json());
    longest = std::max(longest, display_width(state.unicode ? text : ascii(text)));
  }
  return longest;
}

// Derives the visible rows from the known ones.
void settle(State& state) {
  const std::string filter = lower(state.filter);
  state.rows.clear();
  state.hidden = 0;
  const bool listed_units_only = tabs()[state.tab].kind == "units" && !state.slices;
  for (const auto& [id, row] : state.set.rows()) {
    const bool has_ended = string_field(row, "state") == "terminated";
    if ((has_ended && !state.all) || (listed_units_only && !is_listed_unit(row))) {
      ++state.hidden;
    } else if (matches(row, filter)) {
      state.rows.push_back(row);
    }
  }
  state.total = state.set.rows().size() - state.hidden;
  add_fields(state);
  if (was_never_measured(state.status)) remove_energies(state.rows);
  sort_rows(state.rows, state.sort);
  if (state.reverse) std::reverse(state.rows.begin(), state.rows.end());
  state.units.clear();
  state.longest.clear();
  for (const RowColumn& column : tabs()[state.tab].columns) {
    state.units.push_back(unit_of(column, state.rows));
    state.longest.push_back(
        column.live && column.text && column.column.gives_way ? longest_text(state, column) : 0);
  }
  state.trend_most = 0;
  for (const Json& row : state.rows) {
    const auto found = state.histories.find(id_of(row));
    if (found != state.histories.end())
      state.trend_most = std::max(state.trend_most, found->second.most(kTrendWidth));
  }
  follow_pinned_row(state);
  keep_selection_on_screen(state);
}

void move_selection(State& state, std::ptrdiff_t by) {
  if (state.rows.empty()) return;
  const auto last = static_cast<std::ptrdiff_t>(state.rows.size()) - 1;
  const auto target = std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(state.selected) + by, 0, last);
  state.selected = static_cast<std::size_t>(target);
  // At the top, the selection stays on the first place.
  state.pinned = target == 0 ? "" : id_of(state.rows[state.selected]);
  keep_selection_on_screen(state);
}

void scroll_details(State& state, std::ptrdiff_t by) {
  const auto lines = static_cast<std::ptrdiff_t>(details_lines(state).size());
  const std::ptrdiff_t most = std::max<std::ptrdiff_t>(lines - details_room(state), 0);
  const auto target =
      std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(state.details_first) + by, 0, most);
  state.details_first = static_cast<std::size_t>(target);
}

void move(State& state, std::ptrdiff_t by) {
  if (state.pane == Pane::kDetails) scroll_details(state, by);
  if (state.pane == Pane::kList) move_selection(state, by);
}

void show_details_of(State& state, const Json& row) {
  state.details = row;
  if (state.wall) state.wall->add_to_details(state.details);
}

void open_details(State& state) {
  if (state.pane != Pane::kList || state.rows.empty()) return;
  show_details_of(state, state.set.rows().at(id_of(state.rows[state.selected])));
  state.details_gone = false;
  state.details_first = 0;
  state.pinned = id_of(state.details);
  state.pane = Pane::kDetails;
}

void set_filter(State& state, std::string filter) {
  state.filter = std::move(filter);
  settle(state);
}

void leave(State& state) {
  if (state.pane != Pane::kList) {
    state.pane = Pane::kList;
    keep_selection_on_screen(state);
  } else {
    set_filter(state, "");
  }
}

void sort_by(State& state, std::string_view key) {
  state.sort = key;
  settle(state);
}

void press_while_typing(State& state, const Key& key) {
  std::string filter = state.filter;
  switch (key.code) {
    case KeyCode::kCharacter:
      if (filter.size() + key.text.size() <= kMostFilter) filter += key.text;
      return set_filter(state, std::move(filter));
    case KeyCode::kBackspace:
      while (!filter.empty() && (static_cast<unsigned char>(filter.back()) & 0xc0) == 0x80) filter.pop_back();
      if (!filter.empty()) filter.pop_back();
      return set_filter(state, std::move(filter));
    case KeyCode::kEnter:
      state.typing = false;
      return;
    case KeyCode::kEscape:
      state.typing = false;
      return set_filter(state, "");
    default:
      return;
  }
}

struct Letter {
  char letter;
  void (*act)(State&);
};

void toggle_help(State& state) { state.pane = state.pane == Pane::kHelp ? Pane::kList : Pane::kHelp; }

constexpr Letter kLetters[] = {
    {'q', [](State& state) { state.quit = true; }},
    {'p', [](State& state) { sort_by(state, "power"); }},
    {'e', [](State& state) { sort_by(state, "energy"); }},
    {'c', [](State& state) { sort_by(state, "cpu"); }},
    {'n', [](State& state) { sort_by(state, "name"); }},
    {'r', [](State& state) { state.reverse = !state.reverse, settle(state); }},
    {'a', [](State& state) { state.all = !state.all, settle(state); }},
    {'s', [](State& state) { state.slices = !state.slices, settle(state); }},
    {'/', [](State& state) { state.pane = Pane::kList, state.typing = true; }},
    {'j', [](State& state) { move(state, 1); }},
    {'k', [](State& state) { move(state, -1); }},
    {'h', toggle_help},
    {'?', toggle_help},
};

void next_tab(State& state, std::size_t by) { select_tab(state, (state.tab + by) % tabs().size()); }

void press_letter(State& state, const Key& key) {
  if (key.text.size() != 1) return;
  const char letter = key.text.front();
  if (letter >= '1' && letter <= '9') return select_tab(state, static_cast<std::size_t>(letter - '1'));
  for (const Letter& known : kLetters) {
    if (known.letter == letter) return known.act(state);
  }
}

// Power, one value per sample; histories of rows that are gone are dropped.
void add_to_histories(State& state) {
  std::map<std::string, History> kept;
  for (const auto& [id, row] : state.set.rows()) {
    History& history = kept[id];
    if (const auto found = state.histories.find(id); found != state.histories.end()) {
      history = std::move(found->second);
    }
    history.add(integer_field(row, "powerMicrowatts"));
  }
  state.histories = std::move(kept);
}

void update_wall(State& state) {
  state.wall.reset();
  state.no_wall.clear();
  if (!state.plug) return;
  auto wall = Wall::of(state.status);
  if (wall) {
    state.wall = *std::move(wall);
  } else {
    state.no_wall = wall.error().message;
  }
}

void update_details(State& state) {
  if (state.pane != Pane::kDetails) return;
  const auto found = state.set.rows().find(id_of(state.details));
  state.details_gone = found == state.set.rows().end();
  if (!state.details_gone) show_details_of(state, found->second);
  scroll_details(state, 0);
}

}  // namespace

void press(State& state, const Key& key) {
  if (state.typing) return press_while_typing(state, key);
  const std::ptrdiff_t page =
      std::max(state.pane == Pane::kDetails ? details_room(state) : list_room(state), 1);
  constexpr std::ptrdiff_t kAll = 1'000'000'000;
  switch (key.code) {
    case KeyCode::kCharacter:
      return press_letter(state, key);
    case KeyCode::kUp:
      return move(state, -1);
    case KeyCode::kDown:
      return move(state, 1);
    case KeyCode::kPageUp:
      return move(state, -page);
    case KeyCode::kPageDown:
      return move(state, page);
    case KeyCode::kHome:
      return move(state, -kAll);
    case KeyCode::kEnd:
      return move(state, kAll);
    case KeyCode::kEnter:
      return open_details(state);
    case KeyCode::kEscape:
    case KeyCode::kBackspace:
      return leave(state);
    case KeyCode::kTab:
    case KeyCode::kRight:
      return next_tab(state, 1);
    case KeyCode::kBackTab:
    case KeyCode::kLeft:
      return next_tab(state, tabs().size() - 1);
  }
}

void resize(State& state, Size size) {
  state.size = {std::max(size.width, 1), std::max(size.height, 1)};
  keep_selection_on_screen(state);
  if (state.pane == Pane::kDetails) scroll_details(state, 0);
}

void apply_tick(State& state, const Json& tick) {
  if (std::exchange(state.outdated, false)) state.set = {};
  if (!state.set.apply(tick)) return;  // more rows of the same instant follow
  // The first reply of another tab may belong to a sample that is already known.
  const bool is_new = field(tick, "sequence") != field(state.status, "sequence");
  state.status = tick;
  state.status.erase("rows");
  update_wall(state);
  if (is_new) state.host.add(integer_field(field(tick, "host"), "powerMicrowatts"));
  if (is_new || !state.loaded) add_to_histories(state);
  state.loaded = true;
  state.outage.clear();
  update_details(state);
  settle(state);
}

void select_tab(State& state, std::size_t tab) {
  if (tab >= tabs().size() || tab == state.tab) return;
  state.tab = tab;
  state.pane = Pane::kList;
  state.set = {};
  state.histories.clear();
  state.loaded = false;
  state.pinned.clear();
  state.selected = 0;
  state.first = 0;
  settle(state);
}

void lose(State& state, std::string reason) {
  state.outage = std::move(reason);
  state.outdated = true;
}

void fail(State& state, std::string message) {
  state.failure = std::move(message);
  state.quit = true;
}

}  // namespace keplerd::cli::top
