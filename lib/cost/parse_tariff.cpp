// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/parse.h"
#include "base/text.h"
#include "config/ini.h"
#include "config/key_table.h"
#include "config/time_span.h"
#include "cost/load.h"
#include "cost/number.h"

namespace keplerd {
namespace {

constexpr std::size_t kMostPrices = 100;
constexpr char kExpectedNumber[] = "must be a number from 0 to 1000000 with at most 6 decimals, like ";

// What applies at all times leaves nothing of the prices before it.
Result<Done> set_price(TariffText& text, std::string_view value) {
  auto& prices = text.tariff.prices;
  if (value.empty()) {
    prices.clear();
    return Done{};
  }
  const auto rule = parse_price_rule(value);
  if (!rule) return rule.error();
  if (rule->is_default()) prices.clear();
  if (prices.size() == kMostPrices) return Error{fmt::format("more than {} prices", kMostPrices)};
  prices.push_back(*rule);
  return Done{};
}

Result<Done> set_currency(TariffText& text, std::string_view value) {
  const bool is_code =
      value.size() == 3 && std::ranges::all_of(value, [](char c) { return c >= 'A' && c <= 'Z'; });
  if (!value.empty() && !is_code) return Error{"must be three capital letters, like EUR"};
  text.tariff.currency = value;
  return Done{};
}

Result<Done> set_intensity(TariffText& text, std::string_view value) {
  text.tariff.carbon.reset();
  text.intensity_file.clear();
  if (value.empty()) return Done{};
  if (value.front() == '/') {
    text.intensity_file = value;
    return Done{};
  }
  const auto millionths = parse_millionths(value);
  if (!millionths) return Error{std::string(kExpectedNumber) + "0.32, or the absolute path of a CSV file"};
  text.tariff.carbon = Micrograms{*millionths};
  return Done{};
}

Result<Done> set_pue(TariffText& text, std::string_view value) {
  constexpr std::int64_t kMost = 10 * kMillion;
  const auto pue = value.empty() ? std::optional(kMillion) : parse_millionths(value);
  if (!pue || *pue < kMillion || *pue > kMost) return Error{"must be a number from 1 to 10, like 1.4"};
  text.tariff.pue = *pue;
  return Done{};
}

Result<Done> set_embodied(TariffText& text, std::string_view value) {
  constexpr std::uint64_t kMost = 1'000'000'000'000;
  constexpr std::int64_t kMilligrams = 1000;
  text.tariff.embodied.reset();
  if (value.empty()) return Done{};
  const auto grams = parse_number<std::uint64_t>(value);
  if (!grams || *grams > kMost) return Error{"must be a whole number of grams, like 1300000"};
  text.tariff.embodied = Milligrams{static_cast<std::int64_t>(*grams) * kMilligrams};
  return Done{};
}

Result<Done> set_lifetime(TariffText& text, std::string_view value) {
  const auto span = value.empty() ? std::optional(Tariff{}.lifetime) : parse_time_span(value);
  if (!span || *span < std::chrono::hours(1)) return Error{"must be a time of at least an hour, like 4y"};
  text.tariff.lifetime = *span;
  return Done{};
}

struct Row {
  std::string_view section, key;
  Result<Done> (*set)(TariffText& text, std::string_view value);
};

constexpr Row kRows[] = {{"Cost", "Price", set_price},
                         {"Cost", "Currency", set_currency},
                         {"Carbon", "Intensity", set_intensity},
                         {"Carbon", "PUE", set_pue},
                         {"Carbon", "EmbodiedGrams", set_embodied},
                         {"Carbon", "Lifetime", set_lifetime}};

Result<Done> check_section(std::string_view section) { return check_section_of(kRows, section); }

}  // namespace

Result<TariffText> parse_tariff(std::string_view text, std::string_view file, TariffText so_far) {
  const auto set = [&](std::string_view section, std::string_view key, std::string_view value,
                       int line) -> Result<Done> {
    const auto row = find_key(kRows, section, key);
    if (row == std::end(kRows)) return unknown_key_of(kRows, section, key);
    if (const auto done = row->set(so_far, value); !done)
      return Error{fmt::format("{}={}: {}", key, escape_name(value), done.error().message)};
    if (key == "Price") so_far.price_place = fmt::format("{}:{}", escape_name(file), line);
    return Done{};
  };
  if (const auto parsed = parse_ini(text, file, {check_section, set}); !parsed) return parsed.error();
  return so_far;
}

Result<Tariff> finish_tariff(const TariffText& text) {
  const Tariff& tariff = text.tariff;
  if (tariff.has_price() && tariff.currency.empty())
    return Error{text.price_place + ": Price= needs Currency= in section [Cost]"};
  if (tariff.has_price() && std::ranges::none_of(tariff.prices, &PriceRule::is_default))
    return Error{text.price_place + ": a Price= for all other times is needed, like Price=0.32"};
  return tariff;
}

}  // namespace keplerd
