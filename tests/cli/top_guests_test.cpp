// SPDX-License-Identifier: Apache-2.0
// The live screens of virtual machines, containers and pods.
#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/top/columns.h"
#include "cli/top_screens.h"

namespace keplerd::cli::top {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The table's head and its rows.
Texts list_of(const State& state) {
  const Texts all = texts(state);
  const auto head = std::find_if(all.begin(), all.end(),
                                 [](const std::string& line) { return line.starts_with("    POWER"); });
  return {head, std::find(head, all.end(), "")};
}

TEST(TopGuests, MachinesInAscii) {
  std::vector<Json> rows = vm_rows();
  rows[0]["name"] = "café-" + std::string(40, 'x');
  rows[1]["hypervisor"] = "ксен";
  State state = shown({80, 24}, "vms", rows);
  state.unicode = false;
  const Texts lines = texts(state);
  EXPECT_EQ(lines[2], "  42.3 W" + std::string(71, ' ') + "#");
  EXPECT_EQ(lines[7], "  11.00 W     2.00 Wh   16.26%  7500.00 s  caf\\xc3\\xa9-xxxxxxxxxxxx~  kvm");
  EXPECT_EQ(lines[8], "   0.50 W     0.01 Wh    0.08%     9.00 s  * dom7                     \\xd0\\xba\\~");
  for (const char c : joined(lines)) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
}

// NO_COLOR disables colours: important states are shown by words and signs.
TEST(TopGuests, TheDeviceModelIsMarkedByASignNotAColour) {
  const auto lines = draw(shown({80, 24}, "vms", vm_rows()));
  EXPECT_EQ(lines[8][0].style, Style::kPlain);
  EXPECT_THAT(lines[8][0].text, HasSubstr("* dom7"));
  State state = shown({80, 24}, "vms", vm_rows());
  press(state, letter("h"));
  EXPECT_THAT(joined(texts(state)),
              HasSubstr("\n  * NAME                  device model only: guest CPU time not included\n"));
}

TEST(TopGuests, WhereThereAreNoneItIsSaid) {
  for (const auto& [kind, text] :
       std::map<std::string, std::string>{{"vms", "No virtual machines are running"},
                                          {"containers", "No containers are running"},
                                          {"pods", "No pods are running"}}) {
    State state = shown({80, 12}, kind, {});
    EXPECT_EQ(list_of(state).at(1), text);
    for (const char* key : {"/", "x"}) press(state, letter(key));
    EXPECT_EQ(list_of(state).at(1), "Nothing matches the filter");
  }
}

TEST(TopGuests, AreFilteredByWhatTheyAreIn) {
  const auto filtered = [](const char* kind, std::vector<Json> rows, std::string_view filter) {
    State state = shown({80, 12}, kind, std::move(rows));
    press(state, letter("/"));
    for (const char c : filter) press(state, letter(std::string(1, c).c_str()));
    return state.rows.size();
  };
  EXPECT_EQ(filtered("pods", pod_rows(), "SHOP"), 1u);
  EXPECT_EQ(filtered("containers", container_rows(), "5f0c7a6e-"), 1u);
  EXPECT_EQ(filtered("vms", vm_rows(), "xendomains"), 1u);
  std::vector<Json> processes = process_rows();
  processes[0]["virtualMachineId"] = vm_rows()[0]["id"];
  processes[1]["containerId"] = "build";
  EXPECT_EQ(filtered("processes", processes, "4dea22b3"), 1u);
  EXPECT_EQ(filtered("processes", processes, "build"), 1u);
}

TEST(TopGuests, DetailsShowWhatTheyAre) {
  State state = shown({80, 40}, "vms", {vm_rows()[1]});
  press(state, {KeyCode::kEnter});
  EXPECT_THAT(joined(texts(state)), HasSubstr("\ndom7  977.5120\n"));
  EXPECT_THAT(joined(texts(state)), HasSubstr("      Hypervisor: xen\n"
                                              "             PID: 977\n"
                                              "            Unit: /system.slice/xendomains.service\n"
                                              " Guest elsewhere: yes, this is its device model only\n"));
}

TEST(TopGuests, EachTabHasItsNumber) {
  State state = shown({80, 12}, "units", unit_rows());
  for (const auto& [key, kind] : std::map<std::string, std::string>{{"1", "units"},
                                                                    {"2", "vms"},
                                                                    {"3", "containers"},
                                                                    {"4", "pods"},
                                                                    {"5", "processes"},
                                                                    {"6", "zones"}}) {
    press(state, {KeyCode::kCharacter, key});
    EXPECT_EQ(tabs()[state.tab].kind, kind);
  }
}

TEST(TopGuests, HostileNamesNeverReachTheTerminal) {
  const std::string hostile = "\x1b]0;owned\x07\n\xff\u202e" + std::string(240, '\x9b');
  const std::map<std::string, std::vector<Json>> lists = {
      {"vms", vm_rows()}, {"containers", container_rows()}, {"pods", pod_rows()}};
  for (auto [kind, rows] : lists) {
    rows.resize(1);
    for (const char* name : {"id", "name", "unit", "hypervisor", "uuid", "runtime", "podId", "namespace",
                             "parent", "containerId"}) {
      rows[0][name] = hostile;
    }
    for (const int width : {40, 80, 200}) {
      State state = shown({width, 60}, kind, rows);
      std::string text = joined(texts(state));
      press(state, {KeyCode::kEnter});
      text += joined(texts(state));
      EXPECT_THAT(text, HasSubstr("\\x1b]0;owned\\x07")) << kind;
      for (const char* raw : {"\x1b", "\x07", "\xff", "\x9b", "\u202e"}) {
        EXPECT_EQ(text.find(raw), std::string::npos) << kind;
      }
      for (const Line& line : draw(state)) EXPECT_LE(display_width(text_of(line)), width);
    }
  }
}

}  // namespace
}  // namespace keplerd::cli::top
