// SPDX-License-Identifier: Apache-2.0
// What the live screen knows, and how keys and the daemon's replies change it. Pure: no terminal, no socket,
// no clock.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/fields.h"
#include "cli/top/graph.h"
#include "cli/top/line.h"
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
  // How it is shown.
  Size size;
  bool unicode = true;
  Pane pane = Pane::kList;
  std::size_t tab = 0;         // in tabs()
  std::string sort = "power";  // of client::sort_keys()
  bool reverse = false;
  bool all = false;  // ended ones, too
  std::string filter;
  bool typing = false;  // characters go to the filter

  // What keplerd told. `status` is its last whole reply without the rows; null before the first.
  Json status;
  client::RowSet set;
  bool loaded = false;  // the rows of this tab have come
  History host;         // power
  std::map<std::string, History> histories;

  // Made of these: the rows that are shown, in their order.
  std::vector<Json> rows;
  std::size_t total = 0;     // before the filter
  std::size_t hidden = 0;    // ended ones that are not shown
  std::string pinned;        // id of the row that the selection follows; empty: it keeps its place
  std::size_t selected = 0;  // in rows
  std::size_t first = 0;     // of rows, on the screen
  Json details;              // the row whose details are shown, as it was last known
  bool details_gone = false;
  std::size_t details_first = 0;  // line

  bool quit = false;
  std::string failure;  // why it had to end
};

void press(State& state, const Key& key);
void resize(State& state, Size size);

// One reply of Monitor for the present tab.
void apply_tick(State& state, const Json& tick);

// Shows another tab, whose rows are yet to come.
void select_tab(State& state, std::size_t tab);

// The daemon is lost: the screen ends.
void fail(State& state, std::string message);

}  // namespace keplerd::cli::top
