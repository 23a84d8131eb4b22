// SPDX-License-Identifier: Apache-2.0
#include "cli/top/live.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cwchar>
#include <optional>

#include <poll.h>
#include <unistd.h>

#include "cli/top/columns.h"
#include "cli/top/link.h"
#include "cli/top/screen.h"
#include "cli/verbs/ask.h"

#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <curses.h>

namespace keplerd::cli::top {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int kEscapeDelay = 100;  // ms; keys arrive in pieces over a slow line

volatile std::sig_atomic_t wants_end = 0;
void on_end_signal(int) { wants_end = 1; }

// Signals are blocked except while the program waits, so that none is lost in between.
class Signals {
 public:
  Signals() {
    struct sigaction action {};
    action.sa_handler = on_end_signal;
    for (const int signal : kEnd) sigaction(signal, &action, nullptr);
    sigset_t blocked;
    sigemptyset(&blocked);
    for (const int signal : kEnd) sigaddset(&blocked, signal);
    sigaddset(&blocked, SIGWINCH);
    sigprocmask(SIG_BLOCK, &blocked, &while_waiting_);
  }
  ~Signals() { sigprocmask(SIG_SETMASK, &while_waiting_, nullptr); }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  const sigset_t& while_waiting() const { return while_waiting_; }

 private:
  static constexpr std::array<int, 4> kEnd = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  sigset_t while_waiting_{};
};

// The terminal while it is painted, from construction to destruction.
class Curses {
 public:
  explicit Curses(bool colour) : screen_(newterm(nullptr, stdout, stdin)) {
    if (screen_ == nullptr) return;
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(kEscapeDelay);
    curs_set(0);
    colour_ = colour && has_colors();
    if (colour_) prepare_colours();
  }
  ~Curses() {
    if (screen_ == nullptr) return;
    endwin();
    delscreen(screen_);
  }
  Curses(const Curses&) = delete;
  Curses& operator=(const Curses&) = delete;

  bool works() const { return screen_ != nullptr; }
  Size size() const { return {getmaxx(stdscr), getmaxy(stdscr)}; }

  void paint(const std::vector<Line>& lines) const {
    erase();
    for (std::size_t i = 0; i < lines.size(); ++i) {
      ::move(static_cast<int>(i), 0);
      for (const Span& span : lines[i]) {
        attrset(static_cast<int>(attributes(span.style)));
        addstr(span.text.c_str());
      }
    }
    attrset(A_NORMAL);
    refresh();
  }

 private:
  enum Pair : short { kWarningPair = 1, kBadPair, kGraphPair };

  static void prepare_colours() {
    start_color();
    use_default_colors();
    init_pair(kWarningPair, COLOR_YELLOW, -1);
    init_pair(kBadPair, COLOR_RED, -1);
    init_pair(kGraphPair, COLOR_GREEN, -1);
  }

  chtype pair(Pair number) const { return colour_ ? static_cast<chtype>(COLOR_PAIR(number)) : A_NORMAL; }

  chtype attributes(Style style) const {
    switch (style) {
      case Style::kPlain:
        return A_NORMAL;
      case Style::kBold:
        return A_BOLD;
      case Style::kDim:
        return A_DIM;
      case Style::kSelected:
        return A_REVERSE;
      case Style::kWarning:
        return A_BOLD | pair(kWarningPair);
      case Style::kBad:
        return A_BOLD | pair(kBadPair);
      case Style::kGraph:
        return pair(kGraphPair);
    }
    return A_NORMAL;
  }

  SCREEN* screen_;
  bool colour_ = false;
};

struct Special {
  wint_t key;
  KeyCode code;
};
constexpr Special kSpecials[] = {{KEY_UP, KeyCode::kUp},
                                 {KEY_DOWN, KeyCode::kDown},
                                 {KEY_LEFT, KeyCode::kLeft},
                                 {KEY_RIGHT, KeyCode::kRight},
                                 {KEY_PPAGE, KeyCode::kPageUp},
                                 {KEY_NPAGE, KeyCode::kPageDown},
                                 {KEY_HOME, KeyCode::kHome},
                                 {KEY_END, KeyCode::kEnd},
                                 {KEY_ENTER, KeyCode::kEnter},
                                 {KEY_BTAB, KeyCode::kBackTab},
                                 {KEY_BACKSPACE, KeyCode::kBackspace}};
constexpr Special kControls[] = {{'\r', KeyCode::kEnter},     {'\n', KeyCode::kEnter},
                                 {'\t', KeyCode::kTab},       {'\033', KeyCode::kEscape},
                                 {'\b', KeyCode::kBackspace}, {0x7f, KeyCode::kBackspace}};

template <std::size_t kCount>
std::optional<Key> find_key(const Special (&table)[kCount], wint_t key) {
  for (const Special& special : table) {
    if (special.key == key) return Key{special.code};
  }
  return std::nullopt;
}

std::optional<Key> character_key(wint_t character) {
  if (const auto control = find_key(kControls, character)) return control;
  if (character < 0x20) return std::nullopt;
  std::array<char, 16> bytes{};
  std::mbstate_t shift{};
  const std::size_t count = std::wcrtomb(bytes.data(), static_cast<wchar_t>(character), &shift);
  if (count == static_cast<std::size_t>(-1)) return std::nullopt;
  return Key{KeyCode::kCharacter, std::string(bytes.data(), count)};
}

// Handles all pending keys.
void read_keys(State& state, const Curses& curses) {
  wint_t character = 0;
  for (int kind = get_wch(&character); kind != ERR && !state.quit; kind = get_wch(&character)) {
    if (kind == KEY_CODE_YES && character == KEY_RESIZE) {
      resize(state, curses.size());
      continue;
    }
    const auto key = kind == KEY_CODE_YES ? find_key(kSpecials, character) : character_key(character);
    if (key) press(state, *key);
  }
}

// Waits for input, a reply, the time of the next attempt to connect, or a signal.
void wait(State& state, const Link& link, const Signals& signals) {
  std::array<pollfd, 2> polls = {{{STDIN_FILENO, POLLIN, 0}, {link.fd(), POLLIN, 0}}};  // -1 is ignored
  const auto left = link.wait(Clock::now());
  const timespec timeout{left / 1s, (left % 1s) / 1ns};
  const int count = ::ppoll(polls.data(), polls.size(), &timeout, &signals.while_waiting());
  if (count < 0 && errno != EINTR) return fail(state, system_error("poll", errno).message);
  const bool terminal_gone = count > 0 && (polls[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
  if (terminal_gone || wants_end != 0) state.quit = true;
}

void run(State& state, Link link, const Curses& curses, const Signals& signals) {
  while (!state.quit) {
    curses.paint(draw(state));
    wait(state, link, signals);
    const std::size_t tab = state.tab;
    read_keys(state, curses);
    if (state.tab != tab) link.reopen(state, Clock::now());
    link.update(state, Clock::now());
  }
}

}  // namespace

int go_live(const Context& context, std::string_view kind) {
  State state;
  state.tab = find_tab(kind);
  state.plug = context.options.wall;
  Link link(context.options.address);
  if (const auto opened = link.open(state, Clock::now()); !opened)
    return fail_to_connect(context, opened.error());
  state.unicode = context.terminal.unicode;
  {
    const Signals signals;
    const Curses curses(context.terminal.colour);
    if (!curses.works()) return context.fail("this terminal does not support full-screen output");
    resize(state, curses.size());
    run(state, std::move(link), curses, signals);
  }
  if (!state.failure.empty()) return context.fail(state.failure);
  return kFine;
}

}  // namespace keplerd::cli::top
