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

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string live_table(client::Kind kind) {
  const top::State state = live_screen(kind, kWide, true);
  std::string out = trimmed(top::head_text(state));
  for (const Json& row : state.rows) out += trimmed(top::row_text(state, row));
  return out;
}

std::string printed_table(client::Kind kind, std::optional<int> width = {}) {
  Options options;
  options.all = true;
  options.legend = false;
  return list_screen({client::info_of(kind), measured_status(), options, {.width = width}}, rows_of(kind));
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

TEST(Columns, OfPrintedTablesWithAll) {
  EXPECT_EQ(printed_table(client::Kind::kUnits),
            " POWER   ENERGY  SHARE      OWN       CPU  STATE       UNIT\n"
            "12.0 W  2.22 Wh  18.1%      0 J   2h 5min  running     /system.slice\n"
            "11.5 W  2.08 Wh  16.9%  2.08 Wh  1min 30s  running     /system.slice/ssh.service\n"
            "     -    500 J  1.13%    500 J   1.00 ms  terminated  /system.slice/old.service\n");
  EXPECT_EQ(printed_table(client::Kind::kVms),
            " POWER   ENERGY  SHARE      CPU  STATE       NAME    VCPUS  HYPERVISOR   PID  UUID\n"
            "11.0 W  2.00 Wh  16.3%  2h 5min  running     web         8  kvm         4242  "
            "4dea22b3-1d52-d8f3-2516-782e98ab3fa0\n"
            "500 mW   36.0 J  0.08%   9.00 s  running     * dom7      -  xen          977  977.5120\n"
            "     -   7.20 J  0.02%  1.00 ms  terminated  old         -  kvm         4100  "
            "c7a5fdbd-edaf-9455-926a-d65c16db1809\n");
  EXPECT_EQ(
      printed_table(client::Kind::kContainers),
      " POWER   ENERGY  SHARE       CPU  STATE    NAME   RUNTIME     POD                                   "
      "ID\n"
      "4.00 W  1.00 Wh  8.13%  1min 30s  running  cache  docker      -                                     "
      "f2b9c1e4b7d05a6f2b9c1e4b7d05a6f2b9c1e4b7d05a6f2b9c1e4b7d05a6f2b9\n"
      "1.50 W   1800 J  4.07%    45.0 s  running  build  lxc         -                                     "
      "build\n"
      "200 mW    720 J  1.63%    9.00 s  running  api    containerd  5f0c7a6e-9e1d-4f43-8a2b-0c1d2e3f4a5b  "
      "0b87a6b4c3d2e1f00b87a6b4c3d2e1f00b87a6b4c3d2e1f00b87a6b4c3d2e1f0\n");
  EXPECT_EQ(printed_table(client::Kind::kPods),
            " POWER  ENERGY  SHARE     CPU  STATE    NAMESPACE  NAME                  UID\n"
            "210 mW   756 J  1.71%  9.50 s  running  shop       api-7c5ddbdf54-x2x7k  "
            "5f0c7a6e-9e1d-4f43-8a2b-0c1d2e3f4a5b\n"
            "     -     0 J     0%     0 s  running  -          d2ffa0a3-6ac          "
            "d2ffa0a3-6ac4-4b5e-9f0e-3f6b7f0f7a11\n");
  EXPECT_EQ(printed_table(client::Kind::kProcesses),
            " POWER   ENERGY  SHARE       CPU  PID  STATE    NAME   UNIT\n"
            "11.5 W  2.08 Wh  16.9%  1min 29s  812  running  sshd   /system.slice/ssh.service\n"
            "     -      0 J     0%       0 s    9  running  stray  -\n");
  EXPECT_EQ(printed_table(client::Kind::kZones),
            " POWER  ACTIVE    IDLE   ENERGY  QUALITY   TOTAL  ZONE                PROBLEM\n"
            "42.3 W  12.3 W  30.0 W  12.3 Wh  measured  yes    powercap:package:0  -\n"
            "     -       -       -   1.00 J  measured  no     powercap:core:0     energy_uj: Input/output "
            "error\n");
}

TEST(Columns, OfPrintedTablesGiveWayAtTheEndThatSaysLess) {
  EXPECT_EQ(printed_table(client::Kind::kUnits, 70),
            " POWER   ENERGY  SHARE      OWN       CPU  STATE       UNIT\n"
            "12.0 W  2.22 Wh  18.1%      0 J   2h 5min  running     /system.slice\n"
            "11.5 W  2.08 Wh  16.9%  2.08 Wh  1min 30s  running     …ce/ssh.service\n"
            "     -    500 J  1.13%    500 J   1.00 ms  terminated  …ce/old.service\n");
  EXPECT_EQ(printed_table(client::Kind::kProcesses, 70),
            " POWER   ENERGY  SHARE       CPU  PID  STATE    NAME   UNIT\n"
            "11.5 W  2.08 Wh  16.9%  1min 29s  812  running  sshd   …ce/ssh.service\n"
            "     -      0 J     0%       0 s    9  running  stray  -\n");
  EXPECT_EQ(printed_table(client::Kind::kZones, 80),
            " POWER  ACTIVE    IDLE   ENERGY  QUALITY   TOTAL  ZONE                PROBLEM\n"
            "42.3 W  12.3 W  30.0 W  12.3 Wh  measured  yes    powercap:package:0  -\n"
            "     -       -       -   1.00 J  measured  no     powercap:core:0     energy_uj…\n");
}

TEST(Columns, OfTheLiveScreenWithAll) {
  EXPECT_EQ(live_table(client::Kind::kUnits),
            "   POWER    ENERGY   SHARE       OWN        CPU  TREND             STATE       UNIT\n"
            "  12.0 W   2.22 Wh   18.1%       0 J    2h 5min                 █  running     /system.slice\n"
            "  11.5 W   2.08 Wh   16.9%   2.08 Wh   1min 30s                 █  running     "
            "/system.slice/ssh.service\n"
            "       -     500 J   1.13%     500 J    1.00 ms                    terminated  "
            "/system.slice/old.service\n");
  EXPECT_EQ(live_table(client::Kind::kVms),
            "   POWER    ENERGY   SHARE        CPU  TREND             STATE       NAME                       "
            "    HYPERVISOR      PID  UUID\n"
            "  11.0 W   2.00 Wh   16.3%    2h 5min                 █  running     web                        "
            "    kvm            4242  4dea22b3-1d52-d8f3-2516-782e98ab3fa0\n"
            "  500 mW    36.0 J   0.08%     9.00 s                 █  running     * dom7                     "
            "    xen             977  977.5120\n"
            "       -    7.20 J   0.02%    1.00 ms                    terminated  old                        "
            "    kvm            4100  c7a5fdbd-edaf-9455-926a-d65c16db1809\n");
  EXPECT_EQ(live_table(client::Kind::kContainers),
            "   POWER    ENERGY   SHARE        CPU  TREND             STATE       NAME                       "
            "    RUNTIME     ID\n"
            "  4.00 W   1.00 Wh   8.13%   1min 30s                 █  running     cache                      "
            "    docker      f2b9c1e4b7d05a6f2b9c1e4b7d05a6f2b9c1e4b7d05a6f2b9c1e4b7d05a6f2b9\n"
            "  1.50 W    1800 J   4.07%     45.0 s                 █  running     build                      "
            "    lxc         build\n"
            "  200 mW     720 J   1.63%     9.00 s                 █  running     api                        "
            "    containerd  0b87a6b4c3d2e1f00b87a6b4c3d2e1f00b87a6b4c3d2e1f00b87a6b4c3d2e1f0\n");
  EXPECT_EQ(live_table(client::Kind::kPods),
            "   POWER    ENERGY   SHARE        CPU  TREND             STATE       NAMESPACE       NAME       "
            "                               UID\n"
            "  210 mW     756 J   1.71%     9.50 s                 █  running     shop            "
            "api-7c5ddbdf54-x2x7k                      5f0c7a6e-9e1d-4f43-8a2b-0c1d2e3f4a5b\n"
            "       -       0 J      0%        0 s                    running     -               "
            "d2ffa0a3-6ac                              d2ffa0a3-6ac4-4b5e-9f0e-3f6b7f0f7a11\n");
  EXPECT_EQ(
      live_table(client::Kind::kProcesses),
      "   POWER    ENERGY   SHARE        CPU  TREND             STATE           PID  NAME              UNIT\n"
      "  11.5 W   2.08 Wh   16.9%   1min 29s                 █  running         812  sshd              "
      "/system.slice/ssh.service\n"
      "       -       0 J      0%        0 s                    running           9  stray             -\n");
  EXPECT_EQ(live_table(client::Kind::kZones),
            "   POWER    ACTIVE      IDLE    ENERGY  TREND             QUALITY    TOTAL  ZONE\n"
            "  42.3 W    12.3 W    30.0 W   12.3 Wh                 █  measured   yes    powercap:package:0\n"
            "       -         -         -    1.00 J                    measured   no     powercap:core:0\n");
}

TEST(Columns, OfTheLiveScreenAppearWhereItIsWideEnough) {
  EXPECT_EQ(heads(client::Kind::kUnits),
            "26: POWER UNIT\n"
            "32: POWER ENERGY UNIT\n"
            "56: POWER ENERGY SHARE UNIT\n"
            "64: POWER ENERGY SHARE CPU UNIT\n"
            "72: POWER ENERGY SHARE OWN CPU UNIT\n"
            "110: POWER ENERGY SHARE OWN CPU TREND UNIT\n");
  EXPECT_EQ(heads(client::Kind::kVms),
            "26: POWER NAME\n"
            "32: POWER ENERGY NAME\n"
            "56: POWER ENERGY SHARE NAME\n"
            "64: POWER ENERGY SHARE CPU NAME\n"
            "80: POWER ENERGY SHARE CPU NAME HYPERVISOR\n"
            "90: POWER ENERGY SHARE CPU NAME HYPERVISOR PID\n"
            "110: POWER ENERGY SHARE CPU TREND NAME HYPERVISOR PID\n"
            "145: POWER ENERGY SHARE CPU TREND NAME HYPERVISOR PID UUID\n");
  EXPECT_EQ(heads(client::Kind::kContainers),
            "26: POWER NAME\n"
            "32: POWER ENERGY NAME\n"
            "56: POWER ENERGY SHARE NAME\n"
            "64: POWER ENERGY SHARE CPU NAME\n"
            "80: POWER ENERGY SHARE CPU NAME RUNTIME\n"
            "96: POWER ENERGY SHARE CPU NAME RUNTIME ID\n"
            "114: POWER ENERGY SHARE CPU TREND NAME RUNTIME ID\n");
  EXPECT_EQ(heads(client::Kind::kPods),
            "26: POWER NAME\n"
            "32: POWER ENERGY NAME\n"
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
            "64: POWER ENERGY SHARE CPU PID NAME\n"
            "72: POWER ENERGY SHARE CPU PID NAME UNIT\n"
            "110: POWER ENERGY SHARE CPU TREND PID NAME UNIT\n");
  EXPECT_EQ(heads(client::Kind::kZones),
            "26: POWER ZONE\n"
            "32: POWER ENERGY ZONE\n"
            "56: POWER ACTIVE IDLE ENERGY ZONE\n"
            "64: POWER ACTIVE IDLE ENERGY QUALITY ZONE\n"
            "72: POWER ACTIVE IDLE ENERGY QUALITY TOTAL ZONE\n"
            "110: POWER ACTIVE IDLE ENERGY TREND QUALITY TOTAL ZONE\n");
}

TEST(Columns, OfTheLiveScreenMakeRoomForTheState) {
  EXPECT_EQ(heads(client::Kind::kProcesses, true),
            "26: POWER STATE NAME\n"
            "40: POWER STATE PID NAME\n"
            "60: POWER ENERGY STATE PID NAME\n"
            "68: POWER ENERGY SHARE STATE PID NAME\n"
            "76: POWER ENERGY SHARE CPU STATE PID NAME\n"
            "84: POWER ENERGY SHARE CPU STATE PID NAME UNIT\n"
            "122: POWER ENERGY SHARE CPU TREND STATE PID NAME UNIT\n");
}

}  // namespace
}  // namespace keplerd::cli
