// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.h"

#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd::cli {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::string>;

Command parsed(const Words& words, bool on_terminal = false) {
  auto result = parse_arguments(words, on_terminal);
  if (const auto* answer = std::get_if<Answer>(&result)) {
    ADD_FAILURE() << answer->text;
    return {&verbs().front(), {}};
  }
  return std::get<Command>(result);
}

std::string usage_error(const Words& words) {
  const auto result = parse_arguments(words, false);
  const auto* answer = std::get_if<Answer>(&result);
  if (answer == nullptr || !answer->usage_error) return "accepted";
  return answer->text;
}

TEST(Arguments, WithoutAVerbItIsTheHostAtAGlance) {
  const Command command = parsed({});
  EXPECT_EQ(command.verb, &default_verb());
  EXPECT_EQ(command.options.address, "/run/keplerd/org.keplerd.Energy");
  EXPECT_EQ(command.options.json, JsonMode::kOff);
  EXPECT_TRUE(command.options.legend);
  EXPECT_TRUE(command.options.pager);
}

TEST(Arguments, GlobalOptionsMayStandOnBothSidesOfTheVerb) {
  for (const Words& words :
       {Words{"--json=short", "--no-legend", "--no-pager", "--varlink=/x", "units"},
        Words{"units", "--json", "short", "--no-legend", "--no-pager", "--varlink", "/x"}}) {
    const Command command = parsed(words);
    EXPECT_EQ(command.verb->name, "units");
    EXPECT_EQ(command.options.json, JsonMode::kShort);
    EXPECT_FALSE(command.options.legend);
    EXPECT_FALSE(command.options.pager);
    EXPECT_EQ(command.options.address, "/x");
  }
}

TEST(Arguments, JIsPrettyForPeopleAndShortForPrograms) {
  EXPECT_EQ(parsed({"-j"}, true).options.json, JsonMode::kPretty);
  EXPECT_EQ(parsed({"-j"}, false).options.json, JsonMode::kShort);
  EXPECT_EQ(parsed({"--json=pretty"}, false).options.json, JsonMode::kPretty);
  EXPECT_EQ(parsed({"--json=off"}, true).options.json, JsonMode::kOff);
}

TEST(Arguments, ListsTakeLimitSortAndAll) {
  const Command command = parsed({"processes", "-n", "7", "--sort", "cpu", "--all"});
  EXPECT_EQ(command.options.limit, 7u);
  EXPECT_EQ(command.options.sort, "cpu");
  EXPECT_TRUE(command.options.all);
  EXPECT_EQ(parsed({"units"}).options.sort, "");
  EXPECT_TRUE(parsed({"units", "-a"}).options.all);
}

TEST(Arguments, UnitsTakeATreeAndTypes) {
  EXPECT_TRUE(parsed({"units", "--tree"}).options.tree);
  EXPECT_EQ(parsed({"units", "--type=service,scope", "--type=cgroup"}).options.types,
            (Words{"service", "scope", "cgroup"}));
  EXPECT_EQ(
      usage_error({"units", "--type=timer"}),
      "--type: unknown unit type 'timer' (expected service, scope, slice, socket, mount, swap or cgroup)");
  EXPECT_EQ(usage_error({"vms", "--tree"}), "unknown option '--tree'");
}

TEST(Arguments, MonitorTakesAKindACountAndAnInterval) {
  const Command command = parsed({"monitor", "unit", "-n", "3", "--interval", "500ms", "--limit=5"});
  EXPECT_EQ(command.options.kind, "units");
  EXPECT_EQ(command.options.count, 3u);
  EXPECT_EQ(command.options.interval, std::chrono::milliseconds(500));
  EXPECT_EQ(command.options.limit, 5u);
  EXPECT_EQ(parsed({"monitor", "process"}).options.kind, "processes");
  EXPECT_EQ(parsed({"monitor"}).options.kind, "");
  for (const char* verb : {"monitor", "top"}) {
    for (const char* word : {"vm", "vms", "virtual-machine", "virtual-machines"}) {
      EXPECT_EQ(parsed({verb, word}).options.kind, "vms") << word;
    }
    for (const char* word : {"container", "containers"}) {
      EXPECT_EQ(parsed({verb, word}).options.kind, "containers") << word;
    }
    for (const char* word : {"pod", "pods"}) EXPECT_EQ(parsed({verb, word}).options.kind, "pods") << word;
  }
}

TEST(Arguments, AllOptionsMayPrecedeTheVerb) {
  const Command command = parsed({"-an", "7", "--sort", "cpu", "ps"});
  EXPECT_EQ(command.verb->name, "processes");
  EXPECT_EQ(command.options.limit, 7u);
  EXPECT_EQ(command.options.sort, "cpu");
  EXPECT_TRUE(command.options.all);
}

TEST(Arguments, OutputIsAFormat) {
  const auto output = [](const std::string& format) {
    const Options options = parsed({"monitor", "units", "-o", format}).options;
    return std::tuple(options.json, options.framing, options.csv);
  };
  EXPECT_EQ(output("table"), std::tuple(JsonMode::kOff, Framing::kByVerb, false));
  EXPECT_EQ(output("json"), std::tuple(JsonMode::kShort, Framing::kLines, false));
  EXPECT_EQ(output("json-short"), std::tuple(JsonMode::kShort, Framing::kByVerb, false));
  EXPECT_EQ(output("json-pretty"), std::tuple(JsonMode::kPretty, Framing::kByVerb, false));
  EXPECT_EQ(output("json-seq"), std::tuple(JsonMode::kShort, Framing::kSequence, false));
  EXPECT_EQ(output("csv"), std::tuple(JsonMode::kOff, Framing::kByVerb, true));
  EXPECT_EQ(usage_error({"units", "-o", "/tmp/x"}),
            "--output: invalid format '/tmp/x' (expected table, json, json-pretty, json-short, json-seq, "
            "csv, waybar or i3blocks)");
  for (const char* verb : {"status", "show", "top", "doctor"}) {
    const Words words = verb == std::string("show") ? Words{verb, "x", "-ocsv"} : Words{verb, "-ocsv"};
    EXPECT_EQ(usage_error(words),
              "--output: csv is available for lists, monitor, history, report and budgets only");
  }
  EXPECT_EQ(usage_error({"-ocsv"}),
            "--output: csv is available for lists, monitor, history, report and budgets only");
  for (const char* other : {"--json=short", "--json=off", "-j"}) {
    EXPECT_EQ(usage_error({"units", "-ojson", other}), "--output cannot be combined with --json or -j");
  }
}

TEST(Arguments, FullAndQuiet) {
  EXPECT_TRUE(parsed({"vms", "-l"}).options.full);
  EXPECT_TRUE(parsed({"--full", "vms"}).options.full);
  EXPECT_TRUE(parsed({"vms", "-q"}).options.quiet);
}

TEST(Arguments, ShowTakesAnIdThatMayBeAVerb) {
  EXPECT_EQ(parsed({"show", "/system.slice/ssh.service"}).options.id, "/system.slice/ssh.service");
  EXPECT_EQ(parsed({"show", "units"}).options.id, "units");
  EXPECT_EQ(parsed({"show", "--", "-.slice"}).options.id, "-.slice");
}

TEST(Arguments, DoctorTakesOtherRoots) {
  const Command command = parsed({"doctor", "--sysfs=/s", "--procfs=/p", "--cgroupfs=/c"});
  EXPECT_EQ(command.options.host.sysfs, "/s");
  EXPECT_EQ(command.options.host.procfs, "/p");
  EXPECT_EQ(command.options.host.cgroupfs, "/c");
  EXPECT_EQ(parsed({"doctor"}).options.host.cgroupfs, std::nullopt);
}

TEST(UsageError, DescribesTheErrorInOneLine) {
  EXPECT_EQ(usage_error({"foo"}), "unknown verb 'foo'");
  EXPECT_EQ(usage_error({"untis"}), "unknown verb 'untis'; did you mean 'units'?");
  EXPECT_EQ(usage_error({"help", "untis"}), "unknown verb 'untis'; did you mean 'units'?");
  EXPECT_EQ(usage_error({"--frobnicate"}), "unknown option '--frobnicate'");
  EXPECT_EQ(usage_error({"--no-pagre"}), "unknown option '--no-pagre'; did you mean '--no-pager'?");
  EXPECT_EQ(usage_error({"units", "--jsno=short"}), "unknown option '--jsno=short'; did you mean '--json'?");
  EXPECT_EQ(usage_error({"units", "extra"}), "unexpected argument 'extra'");
  EXPECT_EQ(usage_error({"units", "zones"}), "unexpected argument 'zones'");
  EXPECT_EQ(usage_error({"show"}), "ID is required");
  EXPECT_EQ(usage_error({"foo\x1b[2J"}), "unknown verb 'foo\\x1b[2J'");
}

TEST(UsageError, ValuesAreChecked) {
  EXPECT_EQ(usage_error({"--json=xml"}), "--json: invalid mode 'xml' (expected pretty, short or off)");
  EXPECT_EQ(usage_error({"units", "--sort=age"}),
            "--sort: invalid sort key 'age' (expected energy, power, cpu, name or id)");
  EXPECT_EQ(usage_error({"units", "-n", "0"}), "--limit: invalid number '0' (expected a positive integer)");
  EXPECT_EQ(usage_error({"units", "--limit=-1"}),
            "--limit: invalid number '-1' (expected a positive integer)");
  EXPECT_EQ(usage_error({"units", "--limit=1x"}),
            "--limit: invalid number '1x' (expected a positive integer)");
  EXPECT_EQ(usage_error({"monitor", "guests"}),
            "unknown kind 'guests' (expected units, vms, containers, pods, processes or zones)");
  EXPECT_EQ(usage_error({"monitor", "--interval=soon"}),
            "--interval: invalid time span 'soon' (expected a value like 500ms or \"1min 30s\")");
}

TEST(Help, IsAnAnswerAndNoError) {
  const auto general = std::get<Answer>(parse_arguments({"-h"}, false));
  EXPECT_FALSE(general.usage_error);
  for (const Verb& verb : verbs()) EXPECT_THAT(general.text, HasSubstr(verb.help));
  const auto of_verb = std::get<Answer>(parse_arguments({"units", "--help"}, false));
  EXPECT_FALSE(of_verb.usage_error);
  EXPECT_THAT(of_verb.text, HasSubstr("--sort"));
}

TEST(Help, IsAVerbToo) {
  const auto text = [](const Words& words) { return std::get<Answer>(parse_arguments(words, false)).text; };
  EXPECT_EQ(text({"help"}), text({"--help"}));
  EXPECT_EQ(text({"help", "units"}), text({"units", "--help"}));
  EXPECT_EQ(text({"help", "vm"}), text({"vms", "--help"}));
}

TEST(Help, VersionIsOneLine) {
  const auto version = std::get<Answer>(parse_arguments({"--version"}, false));
  EXPECT_FALSE(version.usage_error);
  EXPECT_THAT(version.text, testing::MatchesRegex("keplerctl [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

}  // namespace
}  // namespace keplerd::cli
