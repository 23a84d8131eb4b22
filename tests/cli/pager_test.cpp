// SPDX-License-Identifier: Apache-2.0
#include "cli/output/pager.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "cli/context.h"
#include "cli/output/terminal.h"

namespace keplerd::cli {
namespace {

class Pager : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "pager-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
    file_ = directory_ / "shown";
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string command() const { return "cat > " + file_.string(); }
  std::string shown() const {
    std::ostringstream text;
    text << std::ifstream(file_).rdbuf();
    return text.str();
  }

  std::filesystem::path directory_, file_;
};

TEST_F(Pager, GetsTheWholeText) {
  const std::string text(1 << 20, 'x');
  EXPECT_TRUE(show_in_pager(text, command()));
  EXPECT_EQ(shown(), text);
}

TEST_F(Pager, MayEndBeforeItHasReadAll) {
  const std::string text(1 << 20, 'x');
  EXPECT_TRUE(show_in_pager(text, "exit 0"));
  EXPECT_EQ(std::signal(SIGPIPE, SIG_DFL), SIG_DFL) << "as it was before";
}

TEST_F(Pager, OneThatIsNotThereHasShownNothing) {
  EXPECT_FALSE(show_in_pager("x", "/nonexistent/pager 2>/dev/null"));
}

std::string shown_directly(const Terminal& terminal, const Options& options, std::string_view text) {
  std::ostringstream out, err;
  Context{options, terminal, out, err}.show(text);
  return out.str();
}

TEST_F(Pager, OnlyForLongTextsOnATerminal) {
  Terminal terminal;
  terminal.is_terminal = true;
  terminal.height = 3;
  terminal.pager = command();
  EXPECT_EQ(shown_directly(terminal, {}, "1\n2\n3\n"), "");
  EXPECT_EQ(shown(), "1\n2\n3\n");
  EXPECT_EQ(shown_directly(terminal, {}, "1\n2\n"), "1\n2\n");

  Options without;
  without.pager = false;
  EXPECT_EQ(shown_directly(terminal, without, "1\n2\n3\n"), "1\n2\n3\n");
  terminal.pager = "";
  EXPECT_EQ(shown_directly(terminal, {}, "1\n2\n3\n"), "1\n2\n3\n");
  terminal.pager = command();
  terminal.is_terminal = false;
  EXPECT_EQ(shown_directly(terminal, {}, "1\n2\n3\n"), "1\n2\n3\n");
}

TEST_F(Pager, ATextIsShownWhereThePagerIsMissing) {
  Terminal terminal;
  terminal.is_terminal = true;
  terminal.height = 1;
  terminal.pager = "/nonexistent/pager 2>/dev/null";
  EXPECT_EQ(shown_directly(terminal, {}, "1\n2\n"), "1\n2\n");
}

TEST(ChoosePager, SystemdsVariableComesFirstAndCatMeansNone) {
  EXPECT_EQ(choose_pager(nullptr, nullptr), std::nullopt);
  EXPECT_EQ(choose_pager(nullptr, "more"), "more");
  EXPECT_EQ(choose_pager("most", "more"), "most");
  EXPECT_EQ(choose_pager("", "more"), "");
  EXPECT_EQ(choose_pager(nullptr, " cat "), "");
}

TEST(Colour, OnlyOnATerminalThatWantsIt) {
  EXPECT_TRUE(wants_colour(true, {.term = "xterm"}));
  EXPECT_TRUE(wants_colour(true, {.no_color = "", .term = "xterm"}));
  EXPECT_FALSE(wants_colour(false, {.term = "xterm"}));
  EXPECT_FALSE(wants_colour(true, {.no_color = "1", .term = "xterm"}));
  EXPECT_FALSE(wants_colour(true, {.term = "dumb"}));
  EXPECT_FALSE(wants_colour(true, {.term = nullptr}));
}

TEST(Colour, SystemdsVariableTakesPrecedence) {
  for (const char* yes : {"1", "yes", "true", "16", "256", "24bit"}) {
    EXPECT_TRUE(wants_colour(false, {.systemd_colors = yes, .no_color = "1", .term = "dumb"})) << yes;
  }
  for (const char* no : {"0", "no", "false"}) {
    EXPECT_FALSE(wants_colour(true, {.systemd_colors = no, .term = "xterm"})) << no;
  }
  for (const char* other : {"auto-256", "", "purple"}) {
    EXPECT_TRUE(wants_colour(true, {.systemd_colors = other, .term = "xterm"})) << other;
    EXPECT_FALSE(wants_colour(false, {.systemd_colors = other, .term = "xterm"})) << other;
  }
  EXPECT_EQ(paint("x", Paint::kBold, false), "x");
  EXPECT_EQ(paint("x", Paint::kBold, true), "\033[1mx\033[0m");
}

}  // namespace
}  // namespace keplerd::cli
