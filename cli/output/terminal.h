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

// What the environment says about colours; null: the variable is not set.
struct ColourWish {
  const char* systemd_colors =
      nullptr;                     // systemd's other programs: a boolean, "16", "256", "24bit", "auto-16"...
  const char* no_color = nullptr;  // no-color.org: any value but an empty one means no
  const char* term = nullptr;
};
bool wants_colour(bool is_terminal, const ColourWish& wish);

// $SYSTEMD_PAGER before $PAGER; empty or "cat" means none.
std::optional<std::string> choose_pager(const char* systemd_pager, const char* pager);

enum class Paint { kBold, kGood, kWarning, kBad };

// `text` between escape sequences, if `colour`.
std::string paint(std::string_view text, Paint how, bool colour);

}  // namespace keplerd::cli
