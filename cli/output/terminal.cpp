// SPDX-License-Identifier: Apache-2.0
#include "cli/output/terminal.h"

#include <clocale>
#include <cstdlib>

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/parse.h"

namespace keplerd::cli {
namespace {

constexpr int kFallbackWidth = 80;
constexpr int kFallbackHeight = 24;

// A positive number from the environment, which overrides the terminal's own size, as is customary.
int dimension(const char* variable, int from_terminal, int fallback) {
  const char* value = std::getenv(variable);
  const int wanted = value == nullptr ? 0 : parse_number<int>(value).value_or(0);
  if (wanted > 0) return wanted;
  return from_terminal > 0 ? from_terminal : fallback;
}

bool is_dumb(const char* term) { return term == nullptr || std::string_view(term) == "dumb"; }

std::string_view sequence(Paint how) {
  switch (how) {
    case Paint::kBold:
      return "\033[1m";
    case Paint::kGood:
      return "\033[32m";
    case Paint::kWarning:
      return "\033[1;33m";
    case Paint::kBad:
      return "\033[1;31m";
  }
  return "";
}

}  // namespace

Terminal find_terminal() {
  Terminal terminal;
  terminal.is_terminal = isatty(STDOUT_FILENO) == 1;
  terminal.colour = wants_colour(terminal.is_terminal, {.systemd_colors = std::getenv("SYSTEMD_COLORS"),
                                                        .no_color = std::getenv("NO_COLOR"),
                                                        .term = std::getenv("TERM")});
  terminal.dumb = is_dumb(std::getenv("TERM"));
  std::setlocale(LC_CTYPE, "");
  terminal.unicode = !terminal.is_terminal || std::string_view(nl_langinfo(CODESET)) == "UTF-8";
  winsize size{};
  if (terminal.is_terminal) ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
  terminal.width = dimension("COLUMNS", size.ws_col, kFallbackWidth);
  terminal.height = dimension("LINES", size.ws_row, kFallbackHeight);
  terminal.pager = choose_pager(std::getenv("SYSTEMD_PAGER"), std::getenv("PAGER"));
  return terminal;
}

bool wants_colour(bool is_terminal, const ColourWish& wish) {
  const std::string_view forced = wish.systemd_colors == nullptr ? "" : wish.systemd_colors;
  for (const std::string_view no : {"0", "no", "n", "false", "f", "off"}) {
    if (forced == no) return false;
  }
  for (const std::string_view yes : {"1", "yes", "y", "true", "t", "on", "16", "256", "24bit"}) {
    if (forced == yes) return true;
  }
  const bool refused = wish.no_color != nullptr && *wish.no_color != '\0';
  return is_terminal && !refused && !is_dumb(wish.term);
}

std::optional<std::string> choose_pager(const char* systemd_pager, const char* pager) {
  const char* chosen = systemd_pager != nullptr ? systemd_pager : pager;
  if (chosen == nullptr) return std::nullopt;
  const std::string_view command = trim(chosen);
  return command == "cat" ? std::string() : std::string(command);
}

std::string paint(std::string_view text, Paint how, bool colour) {
  if (!colour) return std::string(text);
  return std::string(sequence(how)) + std::string(text) + "\033[0m";
}

}  // namespace keplerd::cli
