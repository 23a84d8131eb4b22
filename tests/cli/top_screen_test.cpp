// SPDX-License-Identifier: Apache-2.0
// Whole screens, line by line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/screens.h"
#include "cli/top/columns.h"
#include "cli/top_screens.h"

namespace keplerd::cli::top {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(TopScreen, SaysThatAccessIsLimited) {
  EXPECT_EQ(texts(shown({120, 24}, "units", {}, public_status()))[1], std::string(kPublicView));
}

TEST(TopScreen, OfAnySizeStaysWithinIt) {
  for (int width = 1; width < 130; width += 7) {
    for (int height = 1; height < 45; height += 2) {
      State state = shown({width, height}, "processes", process_rows(), simulated_status());
      for (const Key& key :
           {Key{KeyCode::kDown}, Key{KeyCode::kEnter}, Key{KeyCode::kPageDown}, letter("h")}) {
        texts(state);  // checks the size
        press(state, key);
      }
      texts(state);
    }
  }
}

TEST(TopScreen, SaysInFrontThatNumbersAreInvented) {
  for (const Size size : {Size{80, 24}, Size{30, 4}, Size{10, 1}}) {
    const auto lines = draw(shown(size, "units", unit_rows(), simulated_status()));
    ASSERT_FALSE(lines.empty());
    EXPECT_EQ(lines[0][0].text, "SIMULATED");
    EXPECT_EQ(lines[0][0].style, Style::kWarning);
  }
  EXPECT_EQ(texts(shown({80, 24}, "units", {}, simulated_status()))[1],
            "no meter is read, the numbers are invented");
}

TEST(TopScreen, WithoutAMeterShowsTheReason) {
  const Texts lines = texts(shown({80, 24}, "units", {}, unmeasured_status()));
  EXPECT_EQ(lines[0], "NOT MEASURED");
  EXPECT_EQ(lines[1], "no energy meter can be read; 'keplerctl doctor' shows why");
  EXPECT_EQ(lines[2], "       -") << "no accounts of which nothing is known";
  EXPECT_EQ(lines[7], "None");
}

TEST(TopScreen, BeforeTheFirstReplySaysSo) {
  EXPECT_THAT(texts(on({40, 5}, "units")),
              ElementsAre("Waiting for keplerd", "[units] 1/6  by power  0", "    POWER      ENERGY  UNIT",
                          "Waiting for keplerd", "q quit  h help  Tab kind  p/e/c/n sort …"));
}

// The line with the names of the columns.
std::string header_of(const State& state) {
  for (const std::string& line : texts(state)) {
    if (line.starts_with("    POWER")) return line;
  }
  return "";
}

TEST(TopScreen, HasAColumnForGraphicsCardsWhereOneWorksForAnyRow) {
  std::vector<Json> rows = unit_rows();
  const auto header = [&](int width) { return header_of(shown({width, 24}, "units", rows)); };
  EXPECT_THAT(header(120), AllOf(HasSubstr("UNIT"), Not(HasSubstr("GPU"))));
  rows[0]["zones"] = Json::parse(R"([{"name": "gpu", "energyMicrojoules": 5, "powerMicrowatts": 20000000}])");
  EXPECT_THAT(header(120), HasSubstr(" GPU "));
  EXPECT_THAT(header(30), AllOf(HasSubstr("POWER"), Not(HasSubstr("GPU")))) << "not on the narrowest screens";
  State filtered = shown({120, 24}, "units", rows);
  for (const char* key : {"/", "@"}) press(filtered, letter(key));
  EXPECT_THAT(header_of(filtered), HasSubstr(" GPU ")) << "columns do not come and go with the filter";
}

TEST(TopScreen, HostileNamesAreEscaped) {
  Json row = process_rows()[0];
  row["name"] = "\x1b[2J\xff\n";
  row["unit"] = "/\u202eé";
  State state = shown({120, 10}, "processes", {row});
  EXPECT_THAT(joined(texts(state)), HasSubstr("\\x1b[2J\\xff\\x0a   /\\xe2\\x80\\xaeé\n"));
  press(state, {KeyCode::kEnter});
  state.size.height = 40;
  EXPECT_THAT(joined(texts(state)), HasSubstr("Name: \\x1b[2J\\xff\\x0a\n"));
}

TEST(TopScreen, WithoutUtf8IsAscii) {
  State state = on({100, 24}, "processes");
  state.unicode = false;
  Json row = process_rows()[0];
  row["name"] = "café";
  apply_tick(state, tick_of(measured_status(), {row}));
  for (const char* key : {"/", "é"}) press(state, letter(key));
  const std::string text = joined(texts(state));
  EXPECT_THAT(text, HasSubstr("caf\\xc3\\xa9       /system.slice/ssh.service\n"));
  EXPECT_THAT(text, HasSubstr("#\n"));
  EXPECT_THAT(text, HasSubstr("\n/\\xc3\\xa9_"));
  press(state, {KeyCode::kEnter});
  press(state, {KeyCode::kEnter});
  for (const char c : text + joined(texts(state))) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
}

TEST(TopScreen, DetailsAreHeadedByWhatTheIdDoesNotShow) {
  State state = shown({80, 8}, "processes", process_rows());
  press(state, {KeyCode::kEnter});
  EXPECT_EQ(texts(state)[1], "sshd  812.4711");
}

TEST(TopScreen, TheSelectedRowStandsOut) {
  State state = shown({40, 10}, "units", unit_rows());
  press(state, letter("s"));
  press(state, {KeyCode::kDown});
  const auto lines = draw(state);
  EXPECT_EQ(lines[4][0].style, Style::kPlain);
  EXPECT_EQ(lines[5][0].style, Style::kSelected);
  EXPECT_EQ(display_width(lines[5][0].text), 40);  // as far as the edge
}

TEST(TopScreen, WhileKeplerdDoesNotAnswerSaysSoAndShowsTheLastValues) {
  State state = shown({80, 24}, "units", unit_rows());
  Texts expected = texts(state);
  lose(state, "the daemon closed the connection\n");
  expected.front() = "NO ANSWER from keplerd, trying again. Values of Fri 2025-11-21 04:01:02 UTC";
  expected.back() = "the daemon closed the connection\\x0a (q quits)";
  EXPECT_EQ(texts(state), expected);
  EXPECT_EQ(draw(state)[0][0].style, Style::kBad);
  press(state, letter("e"));  // the last rows can still be sorted
  EXPECT_EQ(texts(state)[7], expected[7]);
}

TEST(TopScreen, HelpNamesTheKeys) {
  State state = shown({80, 24}, "units", unit_rows());
  press(state, letter("?"));
  EXPECT_THAT(joined(texts(state)), HasSubstr("\n  r                       reverse the order\n"));
  press(state, letter("h"));
  EXPECT_EQ(state.pane, Pane::kList);
}

}  // namespace
}  // namespace keplerd::cli::top
