// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/arguments.h"

namespace keplerd::cli {
namespace {

using Words = std::vector<std::string>;

Options parsed(const Words& words) {
  const auto result = parse_arguments(words, false);
  if (const auto* answer = std::get_if<Answer>(&result)) {
    ADD_FAILURE() << answer->text;
    return {};
  }
  return std::get<Command>(result).options;
}

std::string usage_error(const Words& words) {
  const auto result = parse_arguments(words, false);
  const auto* answer = std::get_if<Answer>(&result);
  return answer == nullptr || !answer->usage_error ? "accepted" : answer->text;
}

TEST(RunArguments, TheCommandBeginsWithTheFirstWordThatIsNoOption) {
  for (const Words& words : {Words{"run", "make", "-j4", "--json=short", "--", "x"},
                             Words{"run", "--", "make", "-j4", "--json=short", "--", "x"},
                             Words{"run", "-r", "3", "make", "-j4", "--json=short", "--", "x"},
                             Words{"-q", "run", "--label", "a", "make", "-j4", "--json=short", "--", "x"}}) {
    const Options options = parsed(words);
    EXPECT_EQ(options.run.command, (Words{"make", "-j4", "--json=short", "--", "x"}));
    EXPECT_EQ(options.json, JsonMode::kOff);
  }
  EXPECT_EQ(parsed({"run", "--", "--help"}).run.command, Words{"--help"});
  EXPECT_EQ(parsed({"run", "run", "units"}).run.command, (Words{"run", "units"}));
}

TEST(RunArguments, OptionsOfAllVerbsStandBeforeTheCommand) {
  const Options options = parsed({"--json=short", "run", "--varlink", "/x", "true"});
  EXPECT_EQ(options.json, JsonMode::kShort);
  EXPECT_EQ(options.address, "/x");
}

TEST(RunArguments, TakeAmountsAndProperties) {
  const run::RunOptions options =
      parsed({"run", "-pMemoryMax=1G", "-p", "TasksMax=9", "-r5", "--warmup=2", "--delay=1500ms",
              "--max-energy=5kJ", "--user", "--unit=a", "--slice=b", "--prepare=make clean", "--wait",
              "--cost-config=x.conf", "make"})
          .run;
  EXPECT_EQ(options.properties, (Words{"MemoryMax=1G", "TasksMax=9"}));
  EXPECT_EQ(options.repeat, 5u);
  EXPECT_EQ(options.warmup, 2u);
  EXPECT_EQ(options.delay, std::chrono::milliseconds(1500));
  EXPECT_EQ(options.max_energy, Microjoules{5'000'000'000});
  EXPECT_TRUE(options.user);
  EXPECT_TRUE(options.wait);
  EXPECT_EQ(options.prepare, "make clean");
  EXPECT_EQ(options.cost_config, "x.conf");
  EXPECT_EQ(options.command, Words{"make"});
}

TEST(RunArguments, ASummaryNeedsNoCommand) {
  EXPECT_EQ(parsed({"run", "--summary", "file"}).run.summary, "file");
  EXPECT_EQ(usage_error({"run", "--summary=file", "true"}), "--summary does not run a command");
}

TEST(RunArguments, WhatIsAttachedToIsInsteadOfACommand) {
  const run::RunOptions options =
      parsed({"run", "--attach", "web", "--for=1min 30s", "--label=a", "--append=b", "--max-energy=1J"}).run;
  EXPECT_EQ(options.attach, "web");
  EXPECT_EQ(options.attached_for, std::chrono::seconds(90));
  EXPECT_EQ(parsed({"run", "--attach=4711"}).run.attached_for, std::nullopt);
  EXPECT_EQ(usage_error({"run", "--attach=web", "true"}), "--attach does not run a command");
  EXPECT_EQ(usage_error({"run", "--for=1s", "true"}), "--for requires --attach");
  EXPECT_EQ(usage_error({"run", "--attach=web", "--summary=x"}), "--summary and --attach cannot be combined");
  EXPECT_THAT(usage_error({"run", "--attach=web", "--for=long"}),
              testing::HasSubstr("invalid time span 'long'"));
}

TEST(RunArguments, OptionsOfCommandsAndScopesDoNotGoWithWhatRunsAlready) {
  for (const std::string option : {"--system", "--user", "--unit=a", "--slice=a", "--wait", "--repeat=2",
                                   "--warmup=1", "--prepare=a", "--delay=1s"}) {
    EXPECT_EQ(usage_error({"run", "--attach=web", option}),
              "--attach and " + option.substr(0, option.find('=')) + " cannot be combined");
  }
  EXPECT_EQ(usage_error({"run", "--attach=web", "-pTasksMax=1"}),
            "--attach and --property cannot be combined");
}

TEST(RunArguments, AreChecked) {
  EXPECT_EQ(usage_error({"run"}), "no command to run");
  EXPECT_EQ(usage_error({"run", "--"}), "no command to run");
  EXPECT_EQ(usage_error({"run", "--system", "--user", "true"}), "--system and --user cannot be combined");
  EXPECT_THAT(usage_error({"run", "-r0", "true"}), testing::HasSubstr("invalid number '0'"));
  EXPECT_THAT(usage_error({"run", "-pX=1", "true"}), testing::HasSubstr("unknown property 'X'"));
  EXPECT_THAT(usage_error({"run", "--max-energy=much", "true"}), testing::HasSubstr("invalid energy 'much'"));
  EXPECT_THAT(usage_error({"run", "--unit=a/b", "true"}), testing::HasSubstr("invalid unit name 'a/b'"));
  EXPECT_EQ(usage_error({"run", "--lable=x", "true"}), "unknown option '--lable=x'; did you mean '--label'?");
}

}  // namespace
}  // namespace keplerd::cli
