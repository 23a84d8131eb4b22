// SPDX-License-Identifier: Apache-2.0
// The state of the live screen, and how keys and the daemon's replies change it. Pure: no terminal, no
// socket, no clock.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/fields.h"
#include "cli/output/column_unit.h"
#include "cli/top/graph.h"
#include "cli/top/line.h"
#include "cli/wall.h"
#include "client/row_set.h"

namespace keplerd::cli::top {

enum class KeyCode {
  kCharacter,
  kUp,
  kDown,
  kLeft,
  kRight,
  kPageUp,
  kPageDown,
  kHome,
  kEnd,
  kEnter,
  kEscape,
  kBackspace,
  kTab,
  kBackTab
};
struct Key {
  KeyCode code = KeyCode::kCharacter;
  std::string text = {};  // of a character, in UTF-8
};

enum class Pane { kList, kDetails, kHelp };

struct State {
  // View settings.
  Size size;
  bool unicode = true;
  Pane pane = Pane::kList;
  std::size_t tab = 0;         // in tabs()
  std::string sort = "power";  // of client::sort_keys()
  bool reverse = false;
  bool all = false;     // ended ones, too
  bool slices = false;  // units that is_listed_unit() leaves out, too
  bool plug = false;    // --wall: also the power at the plug
  std::string filter;
  bool typing = false;  // characters are added to the filter

  // Replies of keplerd. `status` is the last complete one, without the rows; null before the first.
  Json status;
  client::RowSet set;
  bool loaded = false;  // the rows of this tab have arrived
  History host;         // power
  std::map<std::string, History> histories;
  std::optional<Wall> wall;  // of `status`; unset unless asked for
  std::string no_wall;       // why it is not known

  // Derived from these: the visible rows, in display order.
  std::vector<Json> rows;
  std::vector<std::optional<ColumnUnit>> units;  // of the tab's columns
  std::vector<int> longest;  // of those whose texts may be shortened, the width of the longest text; else 0
  std::vector<std::string_view> added;  // fields that the screen adds, which known rows have
  std::int64_t trend_most = 0;          // what fills TREND, in microwatts: the same for all rows
  std::size_t total = 0;                // before the filter
  std::size_t hidden = 0;               // ended ones and slices that are not shown
  std::string pinned;        // id of the row that the selection follows; empty: it keeps its position
  std::size_t selected = 0;  // in rows
  std::size_t first = 0;     // of rows, on the screen
  Json details;              // the last known version of the row whose details are shown
  bool details_gone = false;
  std::size_t details_first = 0;  // line

  std::string outage;     // why keplerd does not answer; empty: it does
  bool outdated = false;  // `set` is from before the outage: the next reply replaces it

  bool quit = false;
  std::string failure;  // the reason if it had to end
};

void press(State& state, const Key& key);
void resize(State& state, Size size);

// Handles a reply of Monitor for the current tab.
void apply_tick(State& state, const Json& tick);

// Switches to another tab, whose rows have yet to arrive.
void select_tab(State& state, std::size_t tab);

// The connection to the daemon is lost: the last values remain until it answers again.
void lose(State& state, std::string reason);

// The terminal cannot be used any more: ends the screen.
void fail(State& state, std::string message);

}  // namespace keplerd::cli::top
