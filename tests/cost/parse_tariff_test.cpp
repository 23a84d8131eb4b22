// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cost/load.h"

namespace keplerd {
namespace {

Tariff tariff_of(std::string_view text, const TariffText& so_far = {}) {
  const auto parsed = parse_tariff(text, "cost.conf", so_far);
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  return parsed ? parsed->tariff : Tariff{};
}

Rates parsed(std::string_view text, const TariffText& so_far = {}) {
  return rates_at(tariff_of(text, so_far), {});
}

std::string refusal(std::string_view text) {
  const auto parsed = parse_tariff(text, "cost.conf", {});
  if (!parsed) return parsed.error().message;
  const auto tariff = finish_tariff(*parsed);
  return tariff ? "accepted" : tariff.error().message;
}

std::int64_t price(const std::string& text) {
  return parsed("[Cost]\nPrice=" + text + "\n").price.value_or(MicroCurrency{-1}).value;
}

TEST(ParseTariff, ReadsWhatAKilowattHourCostsAndEmits) {
  EXPECT_EQ(parsed("[Cost]\nPrice=0.32\nCurrency=EUR\n\n[Carbon]\nIntensity=380\n"),
            (Rates{MicroCurrency{320'000}, "EUR", Micrograms{380'000'000}}));
  EXPECT_EQ(parsed("[Carbon]\nIntensity=0.5\n"), (Rates{{}, "", Micrograms{500'000}}));
  EXPECT_EQ(parsed(""), Rates{});
}

TEST(ParseTariff, NumbersAreExact) {
  EXPECT_EQ(price("0"), 0);
  EXPECT_EQ(price("0.000001"), 1);
  EXPECT_EQ(price("12.3456"), 12'345'600);
  EXPECT_EQ(price("007.10"), 7'100'000);
  EXPECT_EQ(price("1000000.000000"), 1'000'000'000'000);
}

TEST(ParseTariff, RefusesWhatIsNotSuchANumber) {
  for (const std::string text :
       {"-1", "+1", "1e3", "0,32", ".5", "1.", ".", "1.2.3", "0.0000001", "1000000.000001", "1000001",
        "99999999999999999999", "0x10", "1 2", "nan", "1.-5", "0.3 EUR"}) {
    for (const std::string start : {"[Cost]\nPrice=", "[Carbon]\nIntensity="}) {
      EXPECT_TRUE(
          refusal(start + text)
              .starts_with("cost.conf:2: " + start.substr(start.find('\n') + 1) + text + ": must be a "))
          << refusal(start + text);
    }
  }
}

TEST(ParseTariff, ACurrencyIsThreeCapitalLetters) {
  EXPECT_EQ(parsed("[Cost]\nCurrency=SEK\n").currency, "SEK");
  for (const std::string text : {"eur", "EU", "EURO", "E1R", "\xe2\x82\xac"})
    EXPECT_EQ(refusal("[Cost]\nCurrency=" + text).substr(0, 21), "cost.conf:2: Currency") << text;
  EXPECT_EQ(refusal("[Cost]\nCurrency=eur"),
            "cost.conf:2: Currency=eur: must be three capital letters, like EUR");
}

TEST(ParseTariff, APriceNeedsACurrencyAndNamesItsLine) {
  EXPECT_EQ(refusal("[Carbon]\n[Cost]\nPrice=1\n"), "cost.conf:3: Price= needs Currency= in section [Cost]");
  EXPECT_EQ(refusal("[Cost]\nCurrency=EUR\n"), "accepted");
  EXPECT_EQ(refusal("[Cost]\nPrice=1\nPrice=\n"), "accepted");
}

TEST(ParseTariff, UnknownKeysAndSectionsAreRefused) {
  EXPECT_EQ(refusal("[Costs]\n"), "cost.conf:1: unknown section [Costs]; accepted: [Cost], [Carbon]");
  EXPECT_EQ(refusal("[Cost]\n\nTax=1\n"),
            "cost.conf:3: unknown key Tax= in section [Cost]; accepted: Price=, Currency=");
  EXPECT_EQ(refusal("[Carbon]\nPrice=1\n"),
            "cost.conf:2: unknown key Price= in section [Carbon]; accepted: Intensity=, PUE=, "
            "EmbodiedGrams=, Lifetime=");
  EXPECT_EQ(refusal("Price=1\n"), "cost.conf:1: Price= is set before the first [Section]");
  EXPECT_EQ(refusal("[Cost]\nPrice\n"), "cost.conf:2: expected Key=value");
}

TEST(ParseTariff, AnEmptyValueUnsetsWhatAnEarlierFileSays) {
  const TariffText before{
      {.prices = {{.price = {1}}}, .currency = "EUR", .carbon = Micrograms{2}}, "a:1", ""};
  EXPECT_EQ(parsed("[Cost]\nPrice=\n", before), (Rates{{}, "EUR", Micrograms{2}}));
  EXPECT_EQ(parsed("[Cost]\nPrice=\nCurrency=\n[Carbon]\nIntensity=\n", before), Rates{});
}

TEST(ParseTariff, OfPricesTheLastThatAppliesCounts) {
  const Tariff tariff = tariff_of(
      "[Cost]\nPrice=9 Mon\nPrice=0.32\nPrice=0.24 Mon-Fri 22:00-06:00\nPrice=0.35 since 2026-11-15\n");
  ASSERT_EQ(tariff.prices.size(), 3u) << "what is before a price for all times is forgotten";
  EXPECT_EQ(tariff.prices[1], (PriceRule{.price = {240'000}, .days = 0x3e, .start = 1320, .end = 360}));
  EXPECT_EQ(tariff.prices[2], (PriceRule{.price = {350'000}, .since = 20261115}));
}

TEST(ParseTariff, APriceForAllOtherTimesIsNeeded) {
  EXPECT_EQ(refusal("[Cost]\nCurrency=EUR\nPrice=1 Mon\n"),
            "cost.conf:3: a Price= for all other times is needed, like Price=0.32");
}

TEST(ParseTariff, PricesAreBounded) {
  std::string text = "[Cost]\n";
  for (int i = 0; i < 101; ++i) text += "Price=1 Mon\n";
  EXPECT_EQ(refusal(text), "cost.conf:102: Price=1 Mon: more than 100 prices");
}

TEST(ParseTariff, ReadsWhatTheSiteAndTheHostAdd) {
  const Tariff tariff = tariff_of("[Carbon]\nPUE=1.4\nEmbodiedGrams=1300000\nLifetime=5y\n");
  EXPECT_EQ(tariff.pue, 1'400'000);
  EXPECT_EQ(tariff.embodied, Milligrams{1'300'000'000});
  EXPECT_EQ(tariff_of("[Carbon]\nPUE=\nEmbodiedGrams=\nLifetime=\n"), Tariff{});
  for (const std::string text : {"PUE=0.99", "PUE=10.1", "PUE=x", "EmbodiedGrams=1.5", "EmbodiedGrams=-1",
                                 "EmbodiedGrams=1000000000001", "Lifetime=0", "Lifetime=x"})
    EXPECT_TRUE(refusal("[Carbon]\n" + text).starts_with("cost.conf:2: " + text + ": must be")) << text;
}

TEST(ParseTariff, AFileOfIntensitiesReplacesTheNumber) {
  const auto parsed = parse_tariff("[Carbon]\nIntensity=380\nIntensity=/a/b.csv\n", "cost.conf", {});
  EXPECT_EQ(parsed->intensity_file, "/a/b.csv");
  EXPECT_FALSE(parsed->tariff.carbon);
  EXPECT_EQ(parse_tariff("[Carbon]\nIntensity=1\n", "b", *parsed)->intensity_file, "");
}

}  // namespace
}  // namespace keplerd
