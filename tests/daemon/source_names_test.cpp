// SPDX-License-Identifier: Apache-2.0
// The configuration and lib/energy know the same sources, though neither depends on the other.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "config/load.h"
#include "energy/select_source.h"

namespace keplerd {
namespace {

// The words after "accepted: ", in alphabetical order.
std::string accepted_by_configuration() {
  const auto settings = parse_settings("[Energy]\nSource=nonsense\n", "f", {});
  if (settings) return "everything";
  const std::string& message = settings.error().message;
  std::string names = message.substr(message.find("accepted: ") + 10);
  std::vector<std::string> words;
  for (std::size_t at = 0; at < names.size();) {
    const auto end = std::min(names.find(", ", at), names.size());
    words.push_back(names.substr(at, end - at));
    at = end + 2;
  }
  std::ranges::sort(words);
  return fmt::format("{}", fmt::join(words, " "));
}

TEST(SourceNames, OfTheConfigurationAreThoseThatAreBuilt) {
  auto built = source_names();
  std::ranges::sort(built);
  EXPECT_EQ(accepted_by_configuration(), fmt::format("{}", fmt::join(built, " ")));
}

}  // namespace
}  // namespace keplerd
