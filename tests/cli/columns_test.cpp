// SPDX-License-Identifier: Apache-2.0
// Every column of each kind, in printed tables and on the live screen.
#include "cli/top/columns.h"

#include <array>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/sample_replies.h"
#include "cli/screens.h"

namespace keplerd::cli {
namespace {

// A screen with room for all columns, including TREND and STATE.
constexpr int kWide = 200;

// Rows with every field that a column may use.
std::vector<Json> rows_of(client::Kind kind) {
  std::array lists = {unit_rows(), vm_rows(), container_rows(), pod_rows(), process_rows(), zone_rows()};
  lists[client::index_of(client::Kind::kVms)][0]["vcpus"] = 8;
  lists[client::index_of(client::Kind::kZones)][1]["problem"] = "energy_uj: Input/output error";
  return lists[client::index_of(kind)];
}

top::State live_screen(client::Kind kind, int width, bool all) {
  top::State state;
  state.tab = top::find_tab(client::name_of(kind));
  state.all = all;
  top::resize(state, {width, 24});
  top::apply_tick(state, tick_of(measured_status(), rows_of(kind)));
  return state;
}

// "WIDTH: HEADERS" for each width of a live screen at which the columns change.
std::string heads(client::Kind kind, bool all = false) {
  std::string out, before;
  for (int width = 26; width <= kWide; ++width) {
    std::istringstream words(top::head_text(live_screen(kind, width, all)));
    std::string head;
    for (std::string word; words >> word;) head += " " + word;
    if (head != before) out += fmt::format("{}:{}\n", width, head);
    before = head;
  }
  return out;
}

TEST(Columns, OfTheLiveScreenAppearWhereItIsWideEnough) {
  EXPECT_EQ(heads(client::Kind::kUnits),
            "26: POWER UNIT\n"
            "36: POWER ENERGY UNIT\n"
            "56: POWER ENERGY SHARE UNIT\n"
            "64: POWER ENERGY SHARE CPU UNIT\n"
            "80: POWER ENERGY SHARE OWN CPU UNIT\n"
            "110: POWER ENERGY SHARE OWN CPU TREND UNIT\n");
  EXPECT_EQ(heads(client::Kind::kVms),
            "26: POWER NAME\n"
            "36: POWER ENERGY NAME\n"
            "56: POWER ENERGY SHARE NAME\n"
            "64: POWER ENERGY SHARE CPU NAME\n"
            "80: POWER ENERGY SHARE CPU NAME HYPERVISOR\n"
            "90: POWER ENERGY SHARE CPU NAME HYPERVISOR PID\n"
            "110: POWER ENERGY SHARE CPU TREND NAME HYPERVISOR PID\n"
            "145: POWER ENERGY SHARE CPU TREND NAME HYPERVISOR PID UUID\n");
  EXPECT_EQ(heads(client::Kind::kContainers),
            "26: POWER NAME\n"
            "36: POWER ENERGY NAME\n"
            "56: POWER ENERGY SHARE NAME\n"
            "64: POWER ENERGY SHARE CPU NAME\n"
            "80: POWER ENERGY SHARE CPU NAME RUNTIME\n"
            "96: POWER ENERGY SHARE CPU NAME RUNTIME ID\n"
            "114: POWER ENERGY SHARE CPU TREND NAME RUNTIME ID\n");
  EXPECT_EQ(heads(client::Kind::kPods),
            "26: POWER NAME\n"
            "36: POWER ENERGY NAME\n"
            "56: POWER ENERGY SHARE NAME\n"
            "64: POWER ENERGY SHARE CPU NAME\n"
            "80: POWER ENERGY SHARE CPU NAMESPACE NAME\n"
            "110: POWER ENERGY SHARE CPU TREND NAMESPACE NAME\n"
            "151: POWER ENERGY SHARE CPU TREND NAMESPACE NAME UID\n");
  EXPECT_EQ(heads(client::Kind::kProcesses),
            "26: POWER NAME\n"
            "28: POWER PID NAME\n"
            "48: POWER ENERGY PID NAME\n"
            "56: POWER ENERGY SHARE PID NAME\n"
            "68: POWER ENERGY SHARE CPU PID NAME\n"
            "100: POWER ENERGY SHARE CPU PID NAME UNIT\n"
            "110: POWER ENERGY SHARE CPU TREND PID NAME UNIT\n");
  EXPECT_EQ(heads(client::Kind::kZones),
            "26: POWER ZONE\n"
            "36: POWER ENERGY ZONE\n"
            "64: POWER ACTIVE IDLE ENERGY ZONE\n"
            "72: POWER ACTIVE IDLE ENERGY QUALITY ZONE\n"
            "80: POWER ACTIVE IDLE ENERGY QUALITY TOTAL ZONE\n"
            "110: POWER ACTIVE IDLE ENERGY TREND QUALITY TOTAL ZONE\n");
}

TEST(Columns, OfTheLiveScreenMakeRoomForTheState) {
  EXPECT_EQ(heads(client::Kind::kProcesses, true),
            "26: POWER STATE NA…\n"
            "27: POWER STATE NAME\n"
            "40: POWER STATE PID NAME\n"
            "60: POWER ENERGY STATE PID NAME\n"
            "68: POWER ENERGY SHARE STATE PID NAME\n"
            "80: POWER ENERGY SHARE CPU STATE PID NAME\n"
            "112: POWER ENERGY SHARE CPU STATE PID NAME UNIT\n"
            "122: POWER ENERGY SHARE CPU TREND STATE PID NAME UNIT\n");
}

}  // namespace
}  // namespace keplerd::cli
