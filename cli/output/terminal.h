// SPDX-License-Identifier: Apache-2.0
// What standard output is connected to.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace keplerd::cli {

struct Terminal {
  bool is_terminal = false;
  bool colour = false;
  bool unicode = true;  // false: a terminal whose locale is not UTF-8
  bool dumb = false;    // TERM=dumb: it cannot be cleared, and less would complain
  int width = 80;
  int height = 24;
  std::optional<std::string> pager;  // command from the environment; empty: disabled; unset: the default
};

// Standard output, as described by the system and the environment.
Terminal find_terminal();

// no-color.org: any value but an empty one of NO_COLOR means no. Null: the variable is not set.
bool wants_colour(bool is_terminal, const char* no_color, const char* term);

// $SYSTEMD_PAGER before $PAGER; empty or "cat" means none.
std::optional<std::string> choose_pager(const char* systemd_pager, const char* pager);

enum class Paint { kBold, kGood, kWarning, kBad };

// `text` between escape sequences, if `colour`.
std::string paint(std::string_view text, Paint how, bool colour);

}  // namespace keplerd::cli
