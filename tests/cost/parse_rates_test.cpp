// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cost/load.h"

namespace keplerd {
namespace {

Rates parsed(std::string_view text, const RatesText& so_far = {}) {
  const auto rates = parse_rates(text, "cost.conf", so_far);
  EXPECT_TRUE(rates.ok()) << rates.error().message;
  return rates ? rates->rates : Rates{};
}

std::string refusal(std::string_view text) {
  const auto parsed = parse_rates(text, "cost.conf", {});
  if (!parsed) return parsed.error().message;
  const auto rates = finish_rates(*parsed);
  return rates ? "accepted" : rates.error().message;
}

std::int64_t price(const std::string& text) {
  return parsed("[Cost]\nPrice=" + text + "\n").price.value_or(MicroCurrency{-1}).value;
}

TEST(ParseRates, ReadsWhatAKilowattHourCostsAndEmits) {
  EXPECT_EQ(parsed("[Cost]\nPrice=0.32\nCurrency=EUR\n\n[Carbon]\nIntensity=380\n"),
            (Rates{MicroCurrency{320'000}, "EUR", Micrograms{380'000'000}}));
  EXPECT_EQ(parsed("[Carbon]\nIntensity=0.5\n"), (Rates{{}, "", Micrograms{500'000}}));
  EXPECT_EQ(parsed(""), Rates{});
}

TEST(ParseRates, NumbersAreExact) {
  EXPECT_EQ(price("0"), 0);
  EXPECT_EQ(price("0.000001"), 1);
  EXPECT_EQ(price("12.3456"), 12'345'600);
  EXPECT_EQ(price("007.10"), 7'100'000);
  EXPECT_EQ(price("1000000.000000"), 1'000'000'000'000);
}

TEST(ParseRates, RefusesWhatIsNotSuchANumber) {
  for (const std::string text :
       {"-1", "+1", "1e3", "0,32", ".5", "1.", ".", "1.2.3", "0.0000001", "1000000.000001", "1000001",
        "99999999999999999999", "0x10", "1 2", "nan", "1.-5", "0.3 EUR"}) {
    for (const std::string start : {"[Cost]\nPrice=", "[Carbon]\nIntensity="}) {
      EXPECT_EQ(refusal(start + text), "cost.conf:2: " + start.substr(start.find('\n') + 1) + text +
                                           ": must be a number from 0 to 1000000 with at most 6 decimals, "
                                           "like 0.32");
    }
  }
}

TEST(ParseRates, ACurrencyIsThreeCapitalLetters) {
  EXPECT_EQ(parsed("[Cost]\nCurrency=SEK\n").currency, "SEK");
  for (const std::string text : {"eur", "EU", "EURO", "E1R", "\xe2\x82\xac"})
    EXPECT_EQ(refusal("[Cost]\nCurrency=" + text).substr(0, 21), "cost.conf:2: Currency") << text;
  EXPECT_EQ(refusal("[Cost]\nCurrency=eur"),
            "cost.conf:2: Currency=eur: must be three capital letters, like EUR");
}

TEST(ParseRates, APriceNeedsACurrencyAndNamesItsLine) {
  EXPECT_EQ(refusal("[Carbon]\n[Cost]\nPrice=1\n"), "cost.conf:3: Price= needs Currency= in section [Cost]");
  EXPECT_EQ(refusal("[Cost]\nCurrency=EUR\n"), "accepted");
  EXPECT_EQ(refusal("[Cost]\nPrice=1\nPrice=\n"), "accepted");
}

TEST(ParseRates, UnknownKeysAndSectionsAreRefused) {
  EXPECT_EQ(refusal("[Costs]\n"), "cost.conf:1: unknown section [Costs]; accepted: [Cost], [Carbon]");
  EXPECT_EQ(refusal("[Cost]\n\nTax=1\n"),
            "cost.conf:3: unknown key Tax= in section [Cost]; accepted: Price=, Currency=");
  EXPECT_EQ(refusal("[Carbon]\nPrice=1\n"),
            "cost.conf:2: unknown key Price= in section [Carbon]; accepted: Intensity=");
  EXPECT_EQ(refusal("Price=1\n"), "cost.conf:1: Price= is set before the first [Section]");
  EXPECT_EQ(refusal("[Cost]\nPrice\n"), "cost.conf:2: expected Key=value");
}

TEST(ParseRates, AnEmptyValueUnsetsWhatAnEarlierFileSays) {
  const RatesText before{{MicroCurrency{1}, "EUR", Micrograms{2}}, "a:1"};
  EXPECT_EQ(parsed("[Cost]\nPrice=\n", before), (Rates{{}, "EUR", Micrograms{2}}));
  EXPECT_EQ(parsed("[Cost]\nPrice=\nCurrency=\n[Carbon]\nIntensity=\n", before), Rates{});
}

}  // namespace
}  // namespace keplerd
