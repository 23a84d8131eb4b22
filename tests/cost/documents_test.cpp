// SPDX-License-Identifier: Apache-2.0
// The file that is installed, and the manual page: every key, and nothing that is in force without a change.
#include <fstream>
#include <iterator>
#include <set>

#include <gtest/gtest.h>

#include "base/parse.h"
#include "cost/load.h"

namespace keplerd {
namespace {

using Keys = std::set<std::string>;

std::string read_document(const std::string& name) {
  std::ifstream file(std::string(KEPLERD_SOURCE_DIR) + "/" + name);
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_commented_key(std::string_view line) {
  return line.starts_with("#") && !line.starts_with("# ") && line.find('=') != std::string_view::npos;
}

TEST(ExampleFile, SetsNothingAsItIs) {
  const auto rates = parse_tariff(read_document("systemd/cost.conf"), "cost.conf", {});
  ASSERT_TRUE(rates.ok()) << rates.error().message;
  EXPECT_EQ(rates->tariff, Tariff{});
}

TEST(ExampleFile, HasAValidExampleOfEachKey) {
  const std::string document = read_document("systemd/cost.conf");
  std::string uncommented;
  for (std::string_view text = document; !text.empty();) {
    std::string_view line = take_until(text, '\n');
    if (is_commented_key(line)) line.remove_prefix(1);
    uncommented += std::string(line) + "\n";
  }
  const auto rates = parse_tariff(uncommented, "cost.conf", {});
  ASSERT_TRUE(rates.ok()) << rates.error().message;
  EXPECT_TRUE(rates->tariff.has_price() && rates->tariff.has_carbon());
  EXPECT_NE(rates->tariff.currency, "");
}

TEST(ManualPageOfRates, HasEveryKeyAndNothingMore) {
  const std::string document = read_document("docs/man/keplerd-cost.conf.5");
  Keys keys;
  for (std::string_view text = document; !text.empty();) {
    std::string_view line = take_until(text, '\n');
    if (take_prefix(line, ".It Ic ")) keys.emplace(line);
  }
  EXPECT_EQ(keys, (Keys{"Price=", "Currency=", "Intensity=", "PUE=", "EmbodiedGrams=", "Lifetime="}));
}

TEST(ManualPageOfRates, ShowsAnExampleThatWorks) {
  const std::string document = read_document("docs/man/keplerd-cost.conf.5");
  const std::size_t start = document.find("\n[Cost]\n");
  ASSERT_NE(start, std::string::npos);
  const auto rates =
      parse_tariff(document.substr(start, document.find("\n.Ed\n", start) - start), "example", {});
  ASSERT_TRUE(rates.ok()) << rates.error().message;
  EXPECT_TRUE(finish_tariff(*rates).ok());
  EXPECT_TRUE(rates->tariff.has_price() && rates->tariff.has_carbon());
}

}  // namespace
}  // namespace keplerd
