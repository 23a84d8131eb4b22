// SPDX-License-Identifier: Apache-2.0
// keplerctl(1) documents every verb and every option.
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/arguments.h"

namespace keplerd::cli {
namespace {

std::string manual() {
  std::ostringstream text;
  text << std::ifstream(KEPLERD_SOURCE_DIR "/docs/man/keplerctl.1").rdbuf();
  return text.str();
}

// The words at the heads of the tagged paragraphs of VERBS and OPTIONS, with the hyphens of options.
std::set<std::string> described_words() {
  std::string text = std::regex_replace(manual(), std::regex("Fl ([A-Za-z-]+)"), "-$1");
  text = text.substr(text.find(".Sh VERBS"));
  text.resize(text.find(".Sh JSON"));
  std::set<std::string> words;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(".It ")) continue;
    const std::regex word("[A-Za-z-]+");
    for (std::sregex_iterator match(line.begin(), line.end(), word), end; match != end; ++match) {
      words.insert(match->str());
    }
  }
  return words;
}

TEST(Manual, DescribesEveryVerbAndOption) {
  const auto described = described_words();
  for (const std::string& word : known_words()) EXPECT_EQ(described.count(word), 1u) << word;
}

TEST(Manual, NamesEveryExitStatusAndTheDefaultAddress) {
  const std::string text = manual();
  for (int status = 0; status <= 4; ++status) {
    EXPECT_THAT(text, testing::HasSubstr("\n.It Li " + std::to_string(status) + "\n"));
  }
  EXPECT_THAT(text, testing::HasSubstr(kDefaultAddress));
}

}  // namespace
}  // namespace keplerd::cli
