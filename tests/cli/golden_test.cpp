// SPDX-License-Identifier: Apache-2.0
// Every screen of keplerctl, exactly: at 40, 80 and 132 columns, in UTF-8 and ASCII, with and without
// colours. The screens are in golden/NAME.txt, "\e" standing for the escape character; the host that they
// show is golden/host.json. After an intended change, write them again, and review the difference:
//
//     KEPLERCTL_WRITE_GOLDEN=1 build/dev/bin/cli_test --gtest_filter='*Golden*' && git diff tests/cli/golden
#include "cli/golden.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/doctor/checks.h"
#include "cli/fake_daemon.h"
#include "cli/program.h"
#include "cli/sample_facts.h"
#include "cli/top/columns.h"
#include "cli/top/screen.h"

namespace keplerd::cli {

std::string read_golden(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(KEPLERD_SOURCE_DIR "/tests/cli/golden/" + name).rdbuf();
  return text.str();
}

namespace {

const Json& host() {
  static const Json kHost = Json::parse(read_golden("host.json"));
  return kHost;
}

std::vector<Json> rows_of(std::string_view kind) {
  const Json& rows = host().at(std::string(kind));
  return {rows.begin(), rows.end()};
}

// The host when seen by an ordinary user, without a meter, or with the simulated one.
Json status_of(std::string_view variant) {
  Json status = host().at("status");
  if (variant == "public") status.erase("accounts");
  if (variant == "simulated") status["source"] = Json{{"name", "simulated"}, {"quality", "simulated"}};
  if (variant == "platform") status.update(host().at("platform"));
  if (variant != "unmeasured") return status;
  for (auto& [name, value] : status["accounts"].items()) value = 0;
  status["host"] = Json{{"energyMicrojoules", 0}, {"activeMicrojoules", 0}, {"idleMicrojoules", 0}};
  std::string reason = "perf: no energy events";
  for (int i = 0; i < 10; ++i) reason += "; a meter that was tried, and why it cannot be used";
  status["source"] = Json{{"name", "none"}, {"reason", reason}};
  return status;
}

// Of a host with these workloads, or with none.
Canned canned_of(std::string_view variant) {
  Canned canned;
  canned.statuses = {status_of(variant)};
  for (auto& [kind, rows] : canned.lists) {
    rows = variant == "empty" ? std::vector<Json>() : rows_of(kind);
    if (variant == "platform" && kind == "zones") rows = rows_of("platformZones");
    if (variant != "unmeasured") continue;
    for (Json& row : rows) {
      row.erase("powerMicrowatts");
      row["energyMicrojoules"] = row["activeMicrojoules"] = 0;
    }
  }
  canned.ticks = {tick_of(status_of(variant)), tick_of(status_of(variant))};
  return canned;
}

std::string printed(const FakeDaemon& daemon, std::vector<std::string> arguments, const Look& look) {
  Terminal terminal;
  terminal.is_terminal = true;
  terminal.unicode = look.unicode;
  terminal.colour = look.colour;
  terminal.width = look.width;
  terminal.height = 1000;
  terminal.pager = "";
  std::ostringstream out, err;
  arguments.push_back("--varlink=" + daemon.address());
  EXPECT_EQ(run_program(arguments, terminal, out, err), 0) << err.str();
  return out.str() + err.str();
}

std::string sequence(top::Style style) {
  switch (style) {
    case top::Style::kPlain:
      return "";
    case top::Style::kBold:
      return "\033[1m";
    case top::Style::kDim:
      return "\033[2m";
    case top::Style::kSelected:
      return "\033[7m";
    case top::Style::kWarning:
      return "\033[1;33m";
    case top::Style::kBad:
      return "\033[1;31m";
    case top::Style::kGraph:
      return "\033[32m";
  }
  return "";
}

std::string painted(const top::State& state, bool colour) {
  std::string out;
  for (const top::Line& line : top::draw(state)) {
    if (!colour) {
      out += top::text_of(line) + "\n";
      continue;
    }
    for (const top::Span& span : line) {
      const std::string start = sequence(span.style);
      out += start + span.text + (start.empty() ? "" : "\033[0m");
    }
    out += "\n";
  }
  return out;
}

// After some samples, of which the last one is the host's.
top::State live(std::string_view kind, const Look& look, std::string_view variant = "", bool plug = false) {
  top::State state;
  state.plug = plug;
  state.unicode = look.unicode;
  state.tab = top::find_tab(kind);
  top::resize(state, {look.width, 24});
  constexpr int kSamples = 60;
  for (int sample = 1; sample <= kSamples; ++sample) {
    Json tick = tick_of(status_of(variant), canned_of(variant).lists.at(std::string(kind)));
    tick["sequence"] = sample;
    const auto at_that_time = [&](Json& row, int seed) {
      if (!row.contains("powerMicrowatts") || sample == kSamples) return;
      const int percent = 40 + (sample * (7 + seed) + sample * sample % (11 + seed)) % 60;
      row["powerMicrowatts"] = row["powerMicrowatts"].get<std::int64_t>() * percent / 100;
    };
    at_that_time(tick["host"], 0);
    for (std::size_t i = 0; i < tick["rows"].size(); ++i) at_that_time(tick["rows"][i], static_cast<int>(i));
    top::apply_tick(state, tick);
  }
  return state;
}

void press(top::State& state, std::string_view keys) {
  for (const char key : keys) {
    const bool enter = key == '\r';
    top::press(state, enter ? top::Key{top::KeyCode::kEnter}
                            : top::Key{top::KeyCode::kCharacter, std::string(1, key)});
  }
}

std::vector<Golden> goldens() {
  std::vector<Golden> all;
  const auto print = [&all](std::string name, std::string variant, std::vector<std::string> arguments) {
    all.push_back({std::move(name), [=](const Look& look) {
                     static std::map<std::string, std::unique_ptr<FakeDaemon>> daemons;
                     auto& daemon = daemons[variant];
                     if (!daemon) daemon = std::make_unique<FakeDaemon>(canned_of(variant));
                     return printed(*daemon, arguments, look);
                   }});
  };
  const auto draw = [&all](std::string name, std::string kind, std::string keys, std::string variant = "",
                           bool plug = false) {
    all.push_back({std::move(name), [=](const Look& look) {
                     top::State state = live(kind, look, variant, plug);
                     press(state, keys);
                     return painted(state, look.colour);
                   }});
  };
  print("overview", "", {});
  print("overview-public", "public", {});
  print("overview-unmeasured", "unmeasured", {});
  print("status", "", {"status"});
  print("overview-platform", "platform", {});
  print("status-platform", "platform", {"status"});
  print("vms-wall", "platform", {"vms", "--wall"});
  print("zones-platform", "platform", {"zones"});
  print("status-simulated", "simulated", {"status"});
  print("status-unmeasured", "unmeasured", {"status"});
  for (const client::KindInfo& kind : client::kKinds) {
    print(std::string(kind.plural), "", {std::string(kind.plural)});
    draw("top-" + std::string(kind.plural), std::string(kind.plural), "");
  }
  print("units-all", "", {"units", "--all"});
  print("units-tree", "", {"units", "--tree"});
  print("units-type", "", {"units", "--type=slice"});
  print("units-public", "public", {"units"});
  print("vms-all", "", {"vms", "--all"});
  print("vms-idle", "", {"vms", "--idle=size"});
  print("vms-idle-unmeasured", "unmeasured", {"vms", "--idle=size"});
  print("units-empty", "empty", {"units"});
  print("vms-empty", "empty", {"vms"});
  print("processes-limit", "", {"processes", "-n", "3"});
  print("processes-unmeasured", "unmeasured", {"processes", "-n", "3"});
  print("monitor", "", {"monitor", "-n2"});
  print("show", "", {"show", "web01"});
  print("help", "", {"help"});
  print("help-units", "", {"help", "units"});
  draw("top-slices", "units", "s");
  draw("top-all", "units", "a");
  draw("top-details", "vms", "\r");
  draw("top-filter", "units", "/slice");
  draw("top-help", "units", "h");
  draw("top-public", "units", "", "public");
  draw("top-platform", "units", "", "platform");
  draw("top-wall", "vms", "", "platform", true);
  draw("top-wall-unknown", "vms", "", "", true);
  draw("top-unmeasured", "units", "", "unmeasured");
  all.push_back({"doctor", [](const Look& look) {
                   const auto checks = check_all(healthy());
                   return checks_text(checks, look.colour, look.width) + verdict_text(checks);
                 }});
  all.push_back({"doctor-problems", [](const Look& look) {
                   DoctorFacts facts = healthy();
                   facts.meters.insert(facts.meters.begin(), {"perf", false, "no energy events", "", {}});
                   facts.interrupts_apart = false;
                   facts.caller.group_exists = false;
                   facts.config_error = "/etc/keplerd/keplerd.conf:3: unknown key 'Intervall'";
                   const auto checks = check_all(facts);
                   return checks_text(checks, look.colour, look.width) + verdict_text(checks);
                 }});
  all.push_back(
      {"doctor-unmeasured", [](const Look& look) {
         DoctorFacts facts = healthy();
         facts.status = status_of("unmeasured");
         facts.meters = {
             {"perf", false, "no energy events", "", {}},
             {"powercap",
              false,
              "/sys/class/powercap: No such file or directory",
              "This is a virtual machine, which has no energy counters of its own: measure on its host.",
              {}}};
         facts.counters.clear();
         facts.cgroup2 = "/sys/fs/cgroup/unified";
         facts.has_cgroups = false;
         const auto checks = check_all(facts);
         return checks_text(checks, look.colour, look.width) + verdict_text(checks);
       }});
  all.push_back({"top-outage", [](const Look& look) {
                   top::State state = live("vms", look);
                   top::lose(state, "the daemon closed the connection");
                   return painted(state, look.colour);
                 }});
  for (Golden& result : golden_results()) all.push_back(std::move(result));
  for (Golden& hosts : golden_hosts()) all.push_back(std::move(hosts));
  return all;
}

std::string in_every_look(const std::function<std::string(const Look&)>& screen) {
  std::string out;
  for (const int width : {40, 80, 132}) {
    for (const bool unicode : {true, false}) {
      for (const bool colour : {true, false}) {
        out += fmt::format("=== {} columns, {}, {}\n", width, unicode ? "UTF-8" : "ASCII",
                           colour ? "colour" : "no colour");
        out += screen({width, unicode, colour});
      }
    }
  }
  std::string visible;
  for (const char c : out) visible += c == '\033' ? std::string("\\e") : std::string(1, c);
  return visible;
}

class GoldenScreen : public testing::TestWithParam<Golden> {};

TEST_P(GoldenScreen, IsAsInItsFile) {
  setenv("TZ", "UTC", 1);
  tzset();
  const std::string file = GetParam().name + ".txt";
  const std::string text = in_every_look(GetParam().screen);
  if (std::getenv("KEPLERCTL_WRITE_GOLDEN") != nullptr) {
    std::ofstream(KEPLERD_SOURCE_DIR "/tests/cli/golden/" + file) << text;
  }
  EXPECT_EQ(text, read_golden(file));
}

INSTANTIATE_TEST_SUITE_P(Cli, GoldenScreen, testing::ValuesIn(goldens()), [](const auto& test) {
  std::string name = test.param.name;
  std::erase(name, '-');
  return name;
});

TEST(GoldenFiles, AllBelongToAScreen) {
  std::set<std::string> expected = {"history.json", "host.json"}, found;
  for (const Golden& golden : goldens()) expected.insert(golden.name + ".txt");
  for (const auto& file : std::filesystem::directory_iterator(KEPLERD_SOURCE_DIR "/tests/cli/golden")) {
    found.insert(file.path().filename());
  }
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace keplerd::cli
