// SPDX-License-Identifier: Apache-2.0
#include "cli/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd::cli {
namespace {

using testing::ElementsAre;
using Words = std::vector<std::string>;

Words ordered(Words words) {
  return verb_first(std::move(words),
                    [](std::string_view option) { return option == "--limit" || option == "-n"; });
}

TEST(VerbFirst, OptionsMayPrecedeIt) {
  EXPECT_THAT(ordered({"--limit", "5", "units"}), ElementsAre("units", "--limit", "5"));
  EXPECT_THAT(ordered({"--limit=5", "-a", "units", "x"}), ElementsAre("units", "--limit=5", "-a", "x"));
  EXPECT_THAT(ordered({"-n", "5", "units"}), ElementsAre("units", "-n", "5"));
  EXPECT_THAT(ordered({"-an", "5", "units"}), ElementsAre("units", "-an", "5"));
  EXPECT_THAT(ordered({"-n5", "units"}), ElementsAre("units", "-n5"));
}

TEST(VerbFirst, AValueIsNoVerb) {
  EXPECT_THAT(ordered({"--limit", "units", "vms"}), ElementsAre("vms", "--limit", "units"));
  EXPECT_THAT(ordered({"--", "units"}), ElementsAre("--", "units"));
  EXPECT_THAT(ordered({"-n"}), ElementsAre("-n"));
}

TEST(VerbFirst, AnAliasIsReplacedWhereItIsTheVerbOnly) {
  EXPECT_THAT(ordered({"vm"}), ElementsAre("vms"));
  EXPECT_THAT(ordered({"ps", "-a"}), ElementsAre("processes", "-a"));
  EXPECT_THAT(ordered({"show", "vm"}), ElementsAre("show", "vm"));
  EXPECT_THAT(ordered({"unknown", "vm"}), ElementsAre("unknown", "vm"));
}

TEST(SimilarWord, IsTheNearestOfAtMostTwoChanges) {
  const Words known = {"units", "vms", "pods", "processes", "monitor"};
  EXPECT_EQ(similar_word("untis", known), "units");
  EXPECT_EQ(similar_word("procesess", known), "processes");
  EXPECT_EQ(similar_word("pds", known), "pods");
  EXPECT_EQ(similar_word("xyz", known), std::nullopt);
  EXPECT_EQ(similar_word("v", known), std::nullopt);
  EXPECT_EQ(similar_word("", known), std::nullopt);
  EXPECT_EQ(similar_word("pods", known), std::nullopt);
  EXPECT_EQ(similar_word(std::string(10'000, 'x'), known), std::nullopt);
}

}  // namespace
}  // namespace keplerd::cli
