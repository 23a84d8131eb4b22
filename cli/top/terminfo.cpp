// SPDX-License-Identifier: Apache-2.0
// Separate from live.cpp because <term.h> defines macros like `lines` and `columns`.
#include <cstdlib>
#include <string_view>

#include <unistd.h>

#include "cli/top/live.h"

#define NCURSES_NOMACROS 1
#include <curses.h>
#include <term.h>

namespace keplerd::cli::top {

bool can_go_live() {
  const char* term = std::getenv("TERM");
  if (term == nullptr || std::string_view(term) == "dumb") return false;
  if (isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1) return false;
  int error = 0;
  if (setupterm(nullptr, STDOUT_FILENO, &error) != OK) return false;
  static char name[] = "cup";  // moves the cursor
  return tigetstr(name) != nullptr;
}

}  // namespace keplerd::cli::top
