// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "base/parse.h"
#include "base/text.h"
#include "config/ini.h"
#include "config/key_table.h"
#include "cost/load.h"

namespace keplerd {
namespace {

constexpr std::int64_t kMillion = 1'000'000;
constexpr std::int64_t kMost = 1'000'000;

// "0.32" in millionths.
Result<std::int64_t> parse_millionths(std::string_view text) {
  constexpr std::size_t kDecimals = 6;
  const bool has_fraction = text.find('.') != std::string_view::npos;
  const auto whole = parse_number<std::uint64_t>(take_until(text, '.'));
  std::string fraction(has_fraction ? text : "0");
  const std::size_t decimals = fraction.size();
  fraction.resize(std::max(decimals, kDecimals), '0');
  const auto millionths = parse_number<std::uint32_t>(fraction);
  if (!whole || decimals == 0 || decimals > kDecimals || !millionths || *whole > kMost ||
      (*whole == kMost && *millionths > 0))
    return Error{"must be a number from 0 to 1000000 with at most 6 decimals, like 0.32"};
  return static_cast<std::int64_t>(*whole) * kMillion + *millionths;
}

template <auto kRate>
Result<Done> set_rate(Rates& rates, std::string_view text) {
  auto& rate = rates.*kRate;
  rate.reset();
  if (text.empty()) return Done{};
  const auto millionths = parse_millionths(text);
  if (!millionths) return millionths.error();
  rate = typename std::decay_t<decltype(rate)>::value_type{*millionths};
  return Done{};
}

Result<Done> set_currency(Rates& rates, std::string_view text) {
  const bool is_code =
      text.size() == 3 && std::ranges::all_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
  if (!text.empty() && !is_code) return Error{"must be three capital letters, like EUR"};
  rates.currency = text;
  return Done{};
}

struct Row {
  std::string_view section, key;
  Result<Done> (*set)(Rates& rates, std::string_view text);
};

constexpr Row kRows[] = {{"Cost", "Price", set_rate<&Rates::price>},
                         {"Cost", "Currency", set_currency},
                         {"Carbon", "Intensity", set_rate<&Rates::carbon>}};

Result<Done> check_section(std::string_view section) { return check_section_of(kRows, section); }

}  // namespace

Result<RatesText> parse_rates(std::string_view text, std::string_view file, RatesText so_far) {
  const auto set = [&](std::string_view section, std::string_view key, std::string_view value,
                       int line) -> Result<Done> {
    const auto row = find_key(kRows, section, key);
    if (row == std::end(kRows)) return unknown_key_of(kRows, section, key);
    if (const auto done = row->set(so_far.rates, value); !done)
      return Error{fmt::format("{}={}: {}", key, escape_name(value), done.error().message)};
    if (key == "Price") so_far.price_place = fmt::format("{}:{}", escape_name(file), line);
    return Done{};
  };
  if (const auto parsed = parse_ini(text, file, {check_section, set}); !parsed) return parsed.error();
  return so_far;
}

Result<Rates> finish_rates(const RatesText& text) {
  if (text.rates.price && text.rates.currency.empty())
    return Error{text.price_place + ": Price= needs Currency= in section [Cost]"};
  return text.rates;
}

}  // namespace keplerd
