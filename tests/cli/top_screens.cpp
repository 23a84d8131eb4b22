// SPDX-License-Identifier: Apache-2.0
#include "cli/top_screens.h"

#include <cstdlib>
#include <ctime>

#include <gtest/gtest.h>

#include "cli/screens.h"
#include "cli/top/columns.h"

namespace keplerd::cli::top {

State on(Size size, std::string_view kind) {
  setenv("TZ", "UTC", 1);
  tzset();
  State state;
  state.tab = find_tab(kind);
  resize(state, size);
  return state;
}

State shown(Size size, std::string_view kind, std::vector<Json> rows, const Json& status) {
  State state = on(size, kind);
  apply_tick(state, tick_of(status, std::move(rows)));
  return state;
}

Texts texts(const State& state) {
  Texts out;
  for (const Line& line : draw(state)) {
    out.push_back(text_of(line));
    EXPECT_LE(display_width(out.back()), state.size.width) << out.back();
  }
  EXPECT_LE(out.size(), static_cast<std::size_t>(state.size.height));
  return out;
}

std::string joined(const Texts& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

Key letter(const char* text) { return {KeyCode::kCharacter, text}; }

}  // namespace keplerd::cli::top
