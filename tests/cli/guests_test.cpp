// SPDX-License-Identifier: Apache-2.0
// How virtual machines, containers and pods are displayed.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <map>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/fake_daemon.h"
#include "cli/program.h"
#include "cli/screens.h"

namespace keplerd::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSource = "Host 42.3 W (powercap, measured): 12.3 W active, 30.0 W idle\n\n";
constexpr const char* kTotals =
    "Host: 12.30 Wh = 10.00 idle + 0.03 kernel + 2.27 workloads + 0.00 unattributed.\n";

std::string screen(std::string_view kind, const std::vector<Json>& rows, const Options& options = {},
                   std::optional<int> width = {}) {
  const Json status = measured_status();
  return list_screen({*client::find_kind(kind), status, options, {.header = options.legend, .width = width}},
                     rows);
}

std::string table(std::string_view kind, const std::vector<Json>& rows, std::optional<int> width = {}) {
  Options options;
  options.legend = false;
  return screen(kind, rows, options, width);
}

TEST(Guests, WhereThereAreNoneItIsSaidInsteadOfATable) {
  EXPECT_EQ(screen("vms", {}), std::string(kSource) + "No virtual machines are running. " + kTotals);
  EXPECT_EQ(screen("containers", {}), std::string(kSource) + "No containers are running. " + kTotals);
  EXPECT_EQ(screen("pods", {}), std::string(kSource) + "No pods are running. " + kTotals);
  EXPECT_EQ(screen("vms", {vm_rows()[2]}),
            std::string(kSource) +
                "No virtual machines are running, 1 terminated not shown (--all shows them). " + kTotals);
  EXPECT_EQ(table("vms", {}), "");
}

TEST(Guests, WithoutFullAccessOthersMayBeRunning) {
  Json status = measured_status();
  status.erase("accounts");
  const std::string shown =
      list_screen({*client::find_kind("vms"), status, {}, {.header = true, .width = {}}}, {});
  EXPECT_NE(shown.find("\nNo virtual machines of yours are running. Host: "), std::string::npos) << shown;
}

std::string together(const std::vector<Json>& rows) {
  const std::string text = screen("containers", rows);
  const auto end = text.find(" in total");
  if (end == std::string::npos) return "";
  const auto start = text.rfind(", ", end) + 2;
  return text.substr(start, end - start);
}

TEST(Guests, APowerTogetherCountsNestedContainersOnce) {
  std::vector<Json> rows = container_rows();
  EXPECT_EQ(together(rows), "4.20 W");
  // A cluster in a container: in between is a pod, which is not a row of this list.
  rows[1]["parent"] = "some-pod";
  rows[1]["unit"] = "/system.slice/docker-f2b9.scope/kubelet/pod1/build";
  EXPECT_EQ(together(rows), "4.20 W");
  // Not inside it, though its path starts alike.
  rows[1]["unit"] = "/system.slice/docker-f2b9.scope2";
  EXPECT_EQ(together(rows), "5.70 W");
  // In one that has ended, and has no power that could include it.
  rows[1]["unit"] = "/system.slice/docker-f2b9.scope/build";
  rows[0].erase("powerMicrowatts");
  EXPECT_EQ(together(rows), "1.70 W");
  rows[0] = container_rows()[0];
  // Two in one unit: neither is inside the other.
  rows[1]["unit"] = rows[0]["unit"];
  EXPECT_EQ(together(rows), "5.70 W");
}

TEST(Guests, MachinesInOneUnitsTreeAllCount) {
  std::vector<Json> rows = vm_rows();
  rows[0]["unit"] = "/a";
  rows[1]["unit"] = "/a/b";
  EXPECT_THAT(screen("vms", rows), HasSubstr(", 11.50 W in total. "));
}

TEST(Guests, AnUnknownTotalPowerIsNotShown) {
  std::vector<Json> rows = container_rows();
  rows[0]["powerMicrowatts"] = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(together(rows), "");  // overflows the sum
  for (Json& row : rows) row.erase("powerMicrowatts");
  EXPECT_EQ(together(rows), "");
}

TEST(Guests, OfALimitedListAllAreCountedTogether) {
  Options options;
  options.limit = 1;
  EXPECT_THAT(screen("containers", container_rows(), options),
              HasSubstr("\n1 of 3 containers, 4.20 W in total. "));
}

TEST(Guests, TheIdLeavesBeforeNamesAreShortened) {
  std::vector<Json> rows = vm_rows();
  rows.resize(1);
  rows[0]["name"] = "openshift-cnv_windows-server-2022-datacenter";
  EXPECT_EQ(table("vms", rows, 80),
            "11.00 W  2.00 Wh  16.26%  7500.00 s  openshift-cnv_windows-server-20…  kvm  4242\n");
  EXPECT_EQ(table("vms", rows, 100),
            "11.00 W  2.00 Wh  16.26%  7500.00 s  openshift-cnv_windows-server-2022-datacenter  kvm  4242\n");
  EXPECT_EQ(table("vms", rows, 110),
            "11.00 W  2.00 Wh  16.26%  7500.00 s  openshift-cnv_windows-server-2022-datacenter  kvm  4242  "
            "4dea22b3-1d52-d…\n");
}

const std::string& hostile_name() {
  static const std::string kName =
      "\x1b]0;owned\x07\n\xff\xfe\u202e" + std::string(255 - 9 - 2 - 1 - 2 - 3, '\x9b');
  return kName;
}

void expect_harmless(const std::string& text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    EXPECT_TRUE(byte >= 0x20 || c == '\n') << int(byte);
    EXPECT_NE(byte, 0x7f);
  }
  EXPECT_THAT(text, Not(HasSubstr("\xff")));
  EXPECT_THAT(text, Not(HasSubstr("\x9b")));
  EXPECT_THAT(text, Not(HasSubstr("\u202e")));
}

TEST(Guests, HostileNamesNeverReachTheTerminal) {
  const std::map<std::string, std::vector<Json>> lists = {
      {"vms", vm_rows()}, {"containers", container_rows()}, {"pods", pod_rows()}};
  for (auto [kind, rows] : lists) {
    rows.resize(1);
    for (const char* name : {"id", "name", "unit", "hypervisor", "uuid", "runtime", "podId", "namespace",
                             "parent", "containerId", "state"}) {
      rows[0][name] = hostile_name();
    }
    Options options;
    options.all = true;
    const std::string text = screen(kind, rows, options, 80) + row_screen(rows[0], {});
    expect_harmless(text);
    EXPECT_THAT(text, HasSubstr("\\x1b]0;owned\\x07\\x0a\\xff\\xfe")) << kind;
    const std::string line = table(kind, rows, 80);
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << kind;
  }
}

TEST(Guests, DetailsShowWhatIsCountedAndWhereItRuns) {
  setenv("TZ", "UTC", 1);
  tzset();
  const std::string counted =
      "   Active energy: 36.0 J\n"
      "     Idle energy: 0 J\n"
      "           Power: 500 mW\n"
      "        CPU time: 9.00 s\n"
      "         Quality: attributed\n"
      "           Since: Fri 2025-11-21 03:01:02 UTC\n";
  EXPECT_EQ(row_screen(vm_rows()[1], {}),
            "              Id: 977.5120\n"
            "            Name: dom7\n"
            "            Kind: virtual-machine\n"
            "           State: running\n"
            "          Energy: 36.0 J\n" +
                counted +
                "      Hypervisor: xen\n"
                "             PID: 977\n"
                "            Unit: /system.slice/xendomains.service\n"
                " Guest elsewhere: yes, this is its device model only\n");
  EXPECT_THAT(row_screen(vm_rows()[0], {}), HasSubstr("            UUID: 4dea22b3-1d52-d8f3"));
  EXPECT_THAT(row_screen(container_rows()[2], {}),
              HasSubstr("         Runtime: containerd\n"
                        "             Pod: 5f0c7a6e-9e1d-4f43-8a2b-0c1d2e3f4a5b\n"));
  EXPECT_THAT(row_screen(pod_rows()[0], {}), HasSubstr("       Namespace: shop\n"));
  EXPECT_THAT(row_screen({{"containerId", "x"}}, {}), HasSubstr("       Container: x\n"));
}

TEST(Guests, MonitorUsesTheKeyOfTheList) {
  Canned canned;
  canned.ticks = {tick_of(measured_status(), vm_rows())};
  const FakeDaemon daemon(canned);
  for (const auto& [word, key] : std::map<std::string, std::string>{
           {"vms", "virtualMachines"}, {"containers", "containers"}, {"pods", "pods"}}) {
    const Outcome outcome = run_keplerctl(daemon, {"monitor", word, "-j", "-n1", "--sort=energy"});
    EXPECT_EQ(outcome.out, "\x1e" + Json({{key, vm_rows()}}).dump() + "\n");
  }
}

TEST(Guests, MonitorFitsTheScreenWithItsLongerFooter) {
  std::vector<Json> rows;
  for (int i = 0; i < 50; ++i) {
    rows.push_back(vm_rows()[1]);
    rows.back()["id"] = std::to_string(100 + i) + ".1";
  }
  rows.push_back(vm_rows()[2]);
  Canned canned;
  canned.ticks = {tick_of(measured_status(), rows)};
  const FakeDaemon daemon(canned);
  Terminal terminal;
  terminal.is_terminal = true;
  terminal.height = 24;
  terminal.width = 80;
  std::ostringstream out, err;
  run_program({"monitor", "vm", "-n1", "--varlink=" + daemon.address()}, terminal, out, err);
  std::istringstream lines(out.str());
  int count = 0;
  for (std::string line; std::getline(lines, line);) count += std::max(1, (display_width(line) + 79) / 80);
  EXPECT_EQ(count, 23);
  EXPECT_THAT(out.str(), HasSubstr("\n15 of 51 virtual machines, 1 terminated not shown"));
}

TEST(Guests, MonitorShowsTheirEvents) {
  Json tick = tick_of(measured_status(), vm_rows());
  tick["events"] = Json::parse(R"([{"realtimeUsec": 0, "id": "a", "name": "web\n", "event": "started"},
    {"realtimeUsec": 0, "id": "a", "name": "web", "event": "stopped", "reason": "migrated"}])");
  Canned canned;
  canned.ticks = {tick};
  const FakeDaemon daemon(canned);
  EXPECT_THAT(run_keplerctl(daemon, {"monitor", "vms", "-n1"}).out,
              AllOf(HasSubstr("  web\\x0a started\n"), HasSubstr("  web stopped (migrated)\n")));
  const Outcome json = run_keplerctl(daemon, {"monitor", "vms", "-j", "-n1"});
  EXPECT_EQ(Json::parse(json.out.substr(1)).at("events"), tick["events"]);
}

TEST(Guests, OneIsShownWithTheShareOfEachOfItsParts) {
  const Json row = Json::parse(R"({"id": "a", "energyMicrojoules": 4000000, "vcpus": 2, "breakdown": [
    {"name": "emulator", "energyMicrojoules": 1000000}, {"name": "vcpu0", "energyMicrojoules": 3000000},
    {"name": "e\u001b[31m", "energyMicrojoules": 0}]})");
  EXPECT_EQ(row_screen(row, {}),
            "              Id: a\n"
            "          Energy: 4.00 J\n"
            "           vCPUs: 2\n"
            "\n"
            "ENERGY   SHARE  PART\n"
            "1.00 J  25.00%  emulator\n"
            "3.00 J  75.00%  vcpu0\n"
            "   0 J   0.00%  e\\x1b[31m\n");
}

}  // namespace
}  // namespace keplerd::cli
