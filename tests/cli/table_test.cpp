// SPDX-License-Identifier: Apache-2.0
#include "cli/output/table.h"

#include <gtest/gtest.h>

namespace keplerd::cli {
namespace {

Table example() {
  Table table({{"POWER"}, {"NAME", Align::kLeft, Keep::kStart}, {"UNIT", Align::kLeft}});
  table.add_row({"12.3 W", "a name that is long", "/a.slice"});
  table.add_row({"", "b", ""});
  return table;
}

TEST(Width, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width(""), 0);
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("größe"), 5);
  EXPECT_EQ(display_width("e\xcc\x81"), 1);  // e and a combining acute accent
  EXPECT_EQ(display_width("日本"), 4);
  EXPECT_EQ(display_width("🙂"), 2);
  EXPECT_EQ(display_width("…"), 1);
}

TEST(Width, ABrokenSequenceIsNotReadBeyondItsEnd) {
  EXPECT_EQ(display_width("\xff"), 1);
  EXPECT_EQ(display_width("a\xe6\x97"), 2);
}

TEST(Shorten, KeepsTheMoreInformativeEnd) {
  EXPECT_EQ(shorten("abcdef", 6, Keep::kStart), "abcdef");
  EXPECT_EQ(shorten("abcdef", 5, Keep::kStart), "abcd…");
  EXPECT_EQ(shorten("abcdef", 5, Keep::kEnd), "…cdef");
  EXPECT_EQ(shorten("abcdef", 1, Keep::kEnd), "…");
  EXPECT_EQ(shorten("abcdef", 0, Keep::kEnd), "");
}

TEST(Shorten, NeverCutsAWideCharacter) {
  EXPECT_EQ(shorten("日本語", 5, Keep::kStart), "日本…");
  EXPECT_EQ(shorten("日本語", 4, Keep::kStart), "日…");
  EXPECT_EQ(shorten("日本語", 4, Keep::kEnd), "…語");
}

TEST(Table, AlignsAndMarksMissingCells) {
  EXPECT_EQ(example().text(),
            " POWER  NAME                 UNIT\n"
            "12.3 W  a name that is long  /a.slice\n"
            "     -  b                    -\n");
}

TEST(Table, AWideNameMovesNothing) {
  Table table({{"NAME", Align::kLeft}, {"N"}});
  table.add_row({"日本", "1"});
  table.add_row({"abcd", "22"});
  EXPECT_EQ(table.text(),
            "NAME   N\n"
            "日本   1\n"
            "abcd  22\n");
}

TEST(Table, GivesWayToTheTerminalsWidth) {
  EXPECT_EQ(example().text({.width = 30}),
            " POWER  NAME          UNIT\n"
            "12.3 W  a name that…  /a.slice\n"
            "     -  b             -\n");
}

TEST(Table, KeepsEnoughOfANameOnATinyTerminal) {
  EXPECT_EQ(example().text({.width = 5}),
            " POWER  NAME      UNIT\n"
            "12.3 W  a name …  /a.slice\n"
            "     -  b         -\n");
}

TEST(Table, WithoutHeaderIsNotWidenedByIt) {
  Table table({{"A LONG HEADER"}, {"B", Align::kLeft}});
  table.add_row({"1", "x"});
  EXPECT_EQ(table.text({.header = false}), "1  x\n");
}

TEST(Table, BoldHeaderWrapsTheLineOnly) {
  Table table({{"A", Align::kLeft}});
  table.add_row({"x"});
  EXPECT_EQ(table.text({.bold_header = true}), "\033[1mA\033[0m\nx\n");
}

TEST(Table, EmptyHasItsHeaderAlone) {
  const Table table({{"A"}, {"B"}});
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(table.text(), "A  B\n");
}

TEST(Table, WhatDoesNotFitLeavesInItsOrderIdsBeforeNamesAreShortened) {
  Table table(
      {{"POWER"},
       {.header = "SHARE", .leaves = 50},
       {.header = "CPU", .leaves = 60},
       {.header = "NAME", .align = Align::kLeft, .gives_way = Keep::kStart},
       {.header = "ID", .align = Align::kLeft, .gives_way = Keep::kStart, .leaves = 10, .is_id = true}});
  table.add_row({"1 W", "2%", "3 s", "an-application-of-a-long-name", "0123456789abcdef"});
  const auto line = [&](int width) { return table.text({.header = false, .width = width}); };
  EXPECT_EQ(line(58), "1 W  2%  3 s  an-application-of-a-long-name  0123456789ab…\n");
  EXPECT_EQ(line(53), "1 W  2%  3 s  an-application-of-a-long-name  0123456…\n");
  EXPECT_EQ(line(52), "1 W  2%  3 s  an-application-of-a-long-name\n");
  EXPECT_EQ(line(38), "1 W  2%  3 s  an-application-of-a-lon…\n");
  EXPECT_EQ(line(37), "1 W  2%  an-application-of-a-long-na…\n");
  EXPECT_EQ(line(32), "1 W  an-application-of-a-long-n…\n");
  EXPECT_EQ(line(15), "1 W  an-applic…\n");
}

TEST(Table, InAsciiNamesAreEscapedAndTheEllipsisIsOneToo) {
  Table table({{"N"}, {"NAME", Align::kLeft, Keep::kStart}});
  table.add_row({"1", "café-and-more"});
  EXPECT_EQ(table.text({.header = false, .unicode = false}), "1  caf\\xc3\\xa9-and-more\n");
  EXPECT_EQ(table.text({.header = false, .width = 14, .unicode = false}), "1  caf\\xc3\\xa~\n");
}

TEST(WrapWords, BreaksAtBlanksAndKeepsLines) {
  EXPECT_EQ(wrap_words("one two three\nfour\n\nfive", 8), "one two\nthree\nfour\n\nfive");
  EXPECT_EQ(wrap_words("unbreakable a", 4), "unbreakable\na");
  EXPECT_EQ(wrap_words("\033[1;33mABC\033[0m: d e", 8), "\033[1;33mABC\033[0m: d e");
  EXPECT_EQ(wrap_words("a b\n", std::nullopt), "a b\n");
}

TEST(Table, TheLastColumnGivesWayFirstThenTheWidest) {
  Table table({{"POWER"},
               {"SPACE", Align::kLeft, Keep::kStart},
               {"NAME", Align::kLeft, Keep::kStart},
               {"ID", Align::kLeft, Keep::kStart}});
  table.add_row({"1 W", "kube-system", "coredns-5d78c9869d-mdr7x", "0123456789abcdef"});
  const auto line = [&](int width) { return table.text({.header = false, .width = width}); };
  EXPECT_EQ(line(60), "1 W  kube-system  coredns-5d78c9869d-mdr7x  0123456789abcdef\n");
  EXPECT_EQ(line(52), "1 W  kube-system  coredns-5d78c9869d-mdr7x  0123456…\n");
  EXPECT_EQ(line(40), "1 W  kube-system  coredns-5d7…  0123456…\n");
  EXPECT_EQ(line(36), "1 W  kube-syst…  coredns-…  0123456…\n");
  EXPECT_EQ(line(10), "1 W  kube-sy…  coredns…  0123456…\n");
}

}  // namespace
}  // namespace keplerd::cli
