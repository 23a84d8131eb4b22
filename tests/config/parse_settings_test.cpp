// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"
#include "config/settings_table.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

Settings parsed(std::string_view text) {
  const auto settings = parse_settings(text, "f.conf", {});
  EXPECT_TRUE(settings.ok()) << settings.error().message;
  return settings ? *settings : Settings{};
}

std::string refusal(std::string_view text) {
  const auto settings = parse_settings(text, "f.conf", {});
  return settings ? "accepted" : settings.error().message;
}

TEST(Text, SetsWhatItNamesAndNothingElse) {
  Settings expected;
  expected.energy.source = "simulated";
  expected.sampling.interval = 2s;
  EXPECT_EQ(parsed("[Energy]\nSource=simulated\n\n[Sampling]\nInterval=2s\n"), expected);
  EXPECT_EQ(parsed(""), Settings{});
  EXPECT_EQ(parsed("\n# [Foo]\n; Bar=1\n   # indented\n"), Settings{});
}

TEST(Text, IsAppliedOnTopOfWhatWasThere) {
  Settings before;
  before.energy.source = "simulated";
  before.sampling.interval = 5s;
  const auto after = parse_settings("[Sampling]\nInterval=\n", "f.conf", before);
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after->energy.source, "simulated");
  EXPECT_EQ(after->sampling.interval, 1s);
}

TEST(Text, LetsTheLastOfTwoCount) {
  EXPECT_EQ(
      parsed("[Sampling]\nInterval=2s\nInterval=3s\n[Energy]\n[Sampling]\nInterval=4s").sampling.interval,
      4s);
}

TEST(Text, ReplacesAList) {
  EXPECT_THAT(parsed("[Energy]\nZones=package dram\nZones=psys\n").energy.zones, ElementsAre("psys"));
}

TEST(Text, MayBeWrittenElsewhere) {
  EXPECT_EQ(parsed("\xef\xbb\xbf[Sampling]\r\nInterval=2s\r\n").sampling.interval, 2s);
  EXPECT_EQ(parsed("\xef\xbb\xbf").sampling.interval, 1s);
  EXPECT_EQ(parsed("  [Sampling]  \n\t Interval = 2s ").sampling.interval, 2s);
  EXPECT_EQ(parsed("[Sampling]\nInterval=2s ; twice as long\n").sampling.interval, 2s);
}

TEST(Text, DoesNotTakeAnIndentedLineForMoreOfTheOneAbove) {
  const auto settings = parsed("[Sampling]\nInterval=2s\n  Staleness=3s\n");
  EXPECT_EQ(settings.sampling.interval, 2s);
  EXPECT_EQ(settings.sampling.staleness, 3s);
  EXPECT_EQ(refusal("[Energy]\nZones=package\n  dram\n"), "f.conf:3: expected Key=value");
}

TEST(Error, NamesTheLine) {
  EXPECT_EQ(
      refusal("# a comment\n\n[Sampling]\nInterval=1y\n"),
      "f.conf:4: Interval=1y: must be 0 (sample on demand) or from 10ms to 30s: in a longer one an energy "
      "counter may wrap unseen");
  EXPECT_EQ(refusal("[Energy]\r\n\r\nSource=sun\r\n"),
            "f.conf:3: Source=sun: unknown; accepted: auto, perf, powercap, guest, hwmon, simulated, "
            "estimated");
  EXPECT_EQ(refusal("Source=auto\n"), "f.conf:1: Source= is set before the first [Section]");
}

TEST(Error, IsTheFirstOfSeveral) {
  EXPECT_EQ(refusal("[Energy]\nSource\nSource=sun\n"), "f.conf:2: expected Key=value");
  EXPECT_EQ(refusal("[Energy]\nSource=sun\nSource\n"),
            "f.conf:2: Source=sun: unknown; accepted: auto, perf, powercap, guest, hwmon, simulated, "
            "estimated");
  EXPECT_EQ(refusal("[Energy]\nSource\n[Foo]\n"), "f.conf:2: expected Key=value");
  EXPECT_EQ(refusal("[Energy]\nSource\nOther\n"), "f.conf:2: expected Key=value");
}

TEST(Error, LeavesWhatWasThere) {
  const auto settings = parse_settings("[Energy]\nSource=simulated\nSource=sun\n", "f.conf", {});
  EXPECT_FALSE(settings.ok());
}

TEST(Error, NamesTheFileSafely) {
  const auto settings = parse_settings("[", "a\nb", {});
  ASSERT_FALSE(settings.ok());
  EXPECT_EQ(settings.error().message, "a\\x0ab:1: invalid section (expected [Name])");
}

TEST(Section, IsCheckedThoughEmpty) {
  EXPECT_EQ(refusal("\n[Foo]\n"),
            "f.conf:2: unknown section [Foo]; accepted: [Energy], [Sampling], [Attribution], [Workloads], "
            "[Access], [Guests], [Resctrl], [Perf]");
  EXPECT_EQ(refusal("[" + std::string(100, 'x') + "]").substr(0, 28), "f.conf:1: unknown section [x");
  EXPECT_EQ(refusal("[Energy"), "f.conf:1: invalid section (expected [Name])");
  EXPECT_EQ(refusal("[Energy] Source=auto"), "f.conf:1: unexpected text after ] of a section");
  EXPECT_EQ(refusal("[Access]\n[Guests]\n"), "accepted");
}

TEST(Line, MayBeAsLongAsTheParserSees) {
  // One zone name that makes the line just fit, and what arrives must be all of it.
  const std::string name(197 - 6, 'z');
  EXPECT_THAT(parsed("[Energy]\nZones=" + name + "\n").energy.zones, ElementsAre(name));
  EXPECT_EQ(refusal("[Energy]\nZones=" + name + "z\n"), "f.conf:2: line is longer than 197 bytes");
  EXPECT_EQ(refusal("#" + std::string(5000, 'x') + "\n[Foo").substr(0, 9), "f.conf:2:");
}

TEST(Line, IsNotContinued) {
  EXPECT_EQ(refusal("[Energy]\nZones=package \\\n dram\n"),
            "f.conf:2: a line cannot be continued on the next with \\");
}

TEST(Line, HasNoControlCharacters) {
  using namespace std::string_view_literals;
  EXPECT_EQ(refusal("[Energy]\n\fSource=auto\n"), "f.conf:2: control character");
  EXPECT_EQ(refusal("[Energy]\nSource=au\rto\n"), "f.conf:2: control character");
  EXPECT_EQ(refusal("[Energy]\nSource=auto\n#\0\n"sv), "f.conf:3: NUL byte: not a text file");
  EXPECT_EQ(refusal("\0"sv), "f.conf:1: NUL byte: not a text file");
}

TEST(Text, ReadsBackWhatIsWritten) {
  const auto settings =
      parsed("[Energy]\nZones=a,b\n[Sampling]\nInterval=1s 1ns\n[Workloads]\nTerminatedMax=infinity\n");
  EXPECT_EQ(parsed(format_settings(settings)), settings);
}

}  // namespace
}  // namespace keplerd
