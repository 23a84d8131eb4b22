// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/sample_replies.h"
#include "cli/top/columns.h"
#include "cli/top/screen.h"
#include "cli/top/state.h"

namespace keplerd::cli::top {
namespace {

using testing::ElementsAre;

Json row(const std::string& name, std::int64_t power, std::int64_t energy = 0, std::int64_t cpu = 0) {
  Json out = process_rows()[0];
  out["id"] = out["name"] = name;
  out["powerMicrowatts"] = power;
  out["energyMicrojoules"] = energy;
  out["cpuUsec"] = cpu;
  return out;
}

Json tick(std::int64_t sequence, std::vector<Json> rows, std::vector<std::string> removed = {}) {
  Json out = tick_of(measured_status(), std::move(rows), std::move(removed));
  out["sequence"] = sequence;
  return out;
}

// A screen with room for four rows: a draws the most power, then b, then c. None has a unit.
class TopState : public testing::Test {
 protected:
  TopState() {
    state_.tab = find_tab("processes");
    resize(state_, {80, 8});
    std::vector<Json> rows = {row("a", 50, 1, 3), row("b", 40, 5, 1), row("c", 30, 2, 2)};
    for (Json& each : rows) each.erase("unit");
    apply_tick(state_, tick(1, rows));
  }

  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const Json& each : state_.rows) out.push_back(string_field(each, "name").value_or(""));
    return out;
  }
  std::string selected() const { return names().at(state_.selected); }
  void type(const std::string& keys) {
    for (const char c : keys) press(state_, {KeyCode::kCharacter, std::string(1, c)});
  }
  void press_key(KeyCode code) { press(state_, {code}); }

  State state_;
};

TEST_F(TopState, SortsByTheKeyAndReverses) {
  EXPECT_THAT(names(), ElementsAre("a", "b", "c"));
  type("e");
  EXPECT_THAT(names(), ElementsAre("b", "c", "a"));
  type("c");
  EXPECT_THAT(names(), ElementsAre("a", "c", "b"));
  type("nr");
  EXPECT_THAT(names(), ElementsAre("c", "b", "a"));
  type("pr");
  EXPECT_THAT(names(), ElementsAre("a", "b", "c"));
}

TEST_F(TopState, FiltersWhileTypingAndKeepsItAfterEnter) {
  type("/B");
  EXPECT_THAT(names(), ElementsAre("b"));
  press_key(KeyCode::kEnter);
  type("n");  // a command again
  EXPECT_EQ(state_.filter, "B");
  EXPECT_EQ(state_.sort, "name");
  press_key(KeyCode::kEscape);
  EXPECT_THAT(names(), ElementsAre("a", "b", "c"));
}

TEST_F(TopState, BackspaceTakesAWholeCharacter) {
  type("/b");
  press(state_, {KeyCode::kCharacter, "é"});
  EXPECT_THAT(names(), ElementsAre());
  press_key(KeyCode::kBackspace);
  EXPECT_EQ(state_.filter, "b");
  press_key(KeyCode::kBackspace);
  press_key(KeyCode::kBackspace);
  EXPECT_EQ(state_.filter, "");
  press_key(KeyCode::kEscape);
  EXPECT_FALSE(state_.typing);
}

TEST_F(TopState, TheSelectionStaysWithItsRow) {
  press_key(KeyCode::kDown);
  apply_tick(state_, tick(2, {row("b", 60)}));
  EXPECT_THAT(names(), ElementsAre("b", "a", "c"));
  EXPECT_EQ(selected(), "b");
  apply_tick(state_, tick(3, {}, {"b"}));
  EXPECT_EQ(selected(), "a");  // the next one takes its place
}

TEST_F(TopState, AtTheTopTheSelectionStaysAtTheTop) {
  apply_tick(state_, tick(2, {row("c", 60)}));
  EXPECT_EQ(selected(), "c");
}

TEST_F(TopState, ScrollsToTheSelection) {
  std::vector<Json> rows;
  for (char name = 'a'; name <= 'j'; ++name) rows.push_back(row(std::string(1, name), 200 - name));
  apply_tick(state_, tick(2, rows));
  ASSERT_EQ(list_room(state_), 4);
  press_key(KeyCode::kPageDown);
  EXPECT_EQ(selected(), "e");
  EXPECT_EQ(state_.first, 1u);
  press_key(KeyCode::kEnd);
  EXPECT_EQ(selected(), "j");
  EXPECT_EQ(state_.first, 6u);
  resize(state_, {80, 24});
  EXPECT_EQ(state_.first, 0u);
  resize(state_, {80, 5});
  EXPECT_EQ(state_.first, 9u);
  press_key(KeyCode::kHome);
  EXPECT_EQ(selected(), "a");
  EXPECT_EQ(state_.first, 0u);
}

TEST_F(TopState, EndedOnesAreShownOnDemand) {
  Json ended = row("z", 0);
  ended["state"] = "terminated";
  apply_tick(state_, tick(2, {ended}));
  EXPECT_EQ(names().size(), 3u);
  EXPECT_EQ(state_.hidden, 1u);
  type("a");
  EXPECT_THAT(names(), ElementsAre("a", "b", "c", "z"));
}

TEST_F(TopState, UnitsAreThoseOfTheVerbUnitsAndTheOthersAreShownOnDemand) {
  const auto unit = [](const std::string& id, const char* kind) {
    Json out = unit_rows()[0];
    out["id"] = id;
    out["name"] = id;
    out["kind"] = kind;
    out["state"] = "running";
    return out;
  };
  State units;
  units.tab = find_tab("units");
  resize(units, {80, 24});
  apply_tick(units,
             tick(1, {unit("/system.slice", "unit"), unit("/system.slice/a.service", "unit"),
                      unit("/system.slice/a.service/inner", "group"), unit("/lxc.payload.b", "group")}));
  const auto ids = [&] {
    std::vector<std::string> out;
    for (const Json& each : units.rows) out.push_back(each.at("id"));
    std::sort(out.begin(), out.end());
    return out;
  };
  EXPECT_THAT(ids(), ElementsAre("/lxc.payload.b", "/system.slice/a.service"));
  EXPECT_EQ(units.total, 2u);
  EXPECT_EQ(units.hidden, 2u);
  press(units, {KeyCode::kCharacter, "s"});
  EXPECT_EQ(ids().size(), 4u);
  EXPECT_EQ(units.hidden, 0u);
}

TEST_F(TopState, DetailsFollowTheirRowAndOutliveIt) {
  press_key(KeyCode::kDown);
  press_key(KeyCode::kEnter);
  apply_tick(state_, tick(2, {row("b", 99)}));
  EXPECT_EQ(integer_field(state_.details, "powerMicrowatts"), 99);
  apply_tick(state_, tick(3, {}, {"b"}));
  EXPECT_TRUE(state_.details_gone);
  EXPECT_EQ(string_field(state_.details, "id"), "b");
  press_key(KeyCode::kEscape);
  EXPECT_EQ(state_.pane, Pane::kList);
}

TEST_F(TopState, DetailsScrollNoFartherThanTheirEnd) {
  press_key(KeyCode::kEnter);
  press_key(KeyCode::kEnd);
  const auto room = static_cast<std::size_t>(details_room(state_));
  EXPECT_EQ(state_.details_first + room, details_lines(state_).size());
  press_key(KeyCode::kHome);
  EXPECT_EQ(state_.details_first, 0u);
}

TEST_F(TopState, HistoriesGrowByOneASample) {
  Json first = tick(2, {row("a", 70)});
  first["partial"] = true;
  apply_tick(state_, first);
  EXPECT_EQ(state_.host.size(), 1u);
  apply_tick(state_, tick(2, {row("b", 1)}));
  EXPECT_EQ(state_.host.size(), 2u);
  EXPECT_EQ(state_.histories.at("a").back(0), 70);
  EXPECT_EQ(state_.histories.at("a").back(1), 50);
  EXPECT_EQ(state_.histories.at("c").back(0), 30);  // unchanged, so not sent
  apply_tick(state_, tick(3, {}, {"a"}));
  EXPECT_EQ(state_.histories.count("a"), 0u);
}

TEST_F(TopState, AnotherTabStartsEmptyAndKeepsTheHost) {
  type("6");
  EXPECT_EQ(tabs()[state_.tab].kind, "zones");
  EXPECT_FALSE(state_.loaded);
  EXPECT_TRUE(state_.rows.empty());
  apply_tick(state_, tick(1, zone_rows()));
  EXPECT_EQ(state_.host.size(), 1u);  // the same sample
  EXPECT_EQ(state_.histories.size(), 2u);
  press_key(KeyCode::kTab);
  EXPECT_EQ(state_.tab, 0u);
  press_key(KeyCode::kBackTab);
  EXPECT_EQ(state_.tab, tabs().size() - 1);
  type("9");  // there is none
  EXPECT_EQ(state_.tab, tabs().size() - 1);
}

TEST_F(TopState, KeysOnAnEmptyListDoNothing) {
  apply_tick(state_, tick(2, {}, {"a", "b", "c"}));
  for (const KeyCode code :
       {KeyCode::kDown, KeyCode::kUp, KeyCode::kEnd, KeyCode::kPageUp, KeyCode::kEnter}) {
    press_key(code);
  }
  EXPECT_EQ(state_.pane, Pane::kList);
  EXPECT_EQ(state_.selected, 0u);
}

TEST_F(TopState, QuitsByQButNotWhileTyping) {
  type("/q");
  EXPECT_FALSE(state_.quit);
  press_key(KeyCode::kEscape);
  type("q");
  EXPECT_TRUE(state_.quit);
}

TEST(TopGraph, ScalesToTheMostThatIsShown) {
  History history;
  for (const int value : {1000, 0, 4, 8}) history.add(value);
  history.add(std::nullopt);
  EXPECT_THAT(graph(history, {4, 1}, history.most(4), true), ElementsAre("▁▄█ "));
  EXPECT_THAT(graph(history, {4, 2}, history.most(4), true), ElementsAre("  █ ", "▁██ "));
  EXPECT_THAT(graph(history, {6, 1}, history.most(6), false), ElementsAre(" #___ "));
}

TEST_F(TopState, TrendsHaveOneScale) {
  resize(state_, {160, 8});
  apply_tick(state_, tick(2, {row("a", 80), row("b", 20)}));
  EXPECT_EQ(state_.trend_most, 80);
  EXPECT_THAT(row_text(state_, state_.rows[0]), testing::HasSubstr("  " + std::string(14, ' ') + "▅█  "));
  EXPECT_THAT(row_text(state_, state_.rows[2]), testing::HasSubstr("  " + std::string(14, ' ') + "▄▂  "));
}

TEST(TopGraph, OfZeroIsTheLowestBlock) {
  History history;
  history.add(0);
  EXPECT_THAT(graph(history, {2, 2}, history.most(2), true), ElementsAre("  ", " ▁"));
}

TEST(TopLine, WrapsByColumns) {
  EXPECT_THAT(wrap("abcdef", 3, true), ElementsAre("abc", "def"));
  EXPECT_THAT(wrap("abcd", 3, true), ElementsAre("abc", "d"));
  EXPECT_THAT(wrap("日本語", 5, true), ElementsAre("日本", "語"));
  EXPECT_THAT(wrap("", 5, true), ElementsAre(""));
}

}  // namespace
}  // namespace keplerd::cli::top
