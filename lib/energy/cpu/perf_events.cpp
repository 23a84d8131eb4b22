// SPDX-License-Identifier: Apache-2.0
#include "energy/cpu/perf_events.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "base/parse.h"

namespace keplerd {
namespace {

constexpr int kMostExponent = 400;
using Wide = unsigned __int128;

// digits x 10^exponent, without trailing zeros in the digits.
struct Decimal {
  Wide digits = 0;
  int exponent = 0;
};

bool append_digit(Decimal& number, char c) {
  if (c < '0' || c > '9') return false;
  constexpr Wide kMost = (~Wide{0} - 9) / 10;
  if (number.digits > kMost) return false;
  number.digits = number.digits * 10 + static_cast<Wide>(c - '0');
  return true;
}

std::optional<Decimal> parse_decimal(std::string_view text) {
  Decimal number;
  auto mantissa = text.substr(0, text.find_first_of("eE"));
  if (mantissa.size() < text.size()) {
    text.remove_prefix(mantissa.size() + 1);
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto exponent = parse_number<int>(text);
    if (!exponent || *exponent < -kMostExponent || *exponent > kMostExponent) return std::nullopt;
    number.exponent = *exponent;
  }
  if (mantissa.size() > kMostExponent) return std::nullopt;
  const auto whole = take_until(mantissa, '.');
  if (whole.empty()) return std::nullopt;
  for (const char c : whole) {
    if (!append_digit(number, c)) return std::nullopt;
  }
  for (const char c : mantissa) {
    if (!append_digit(number, c)) return std::nullopt;
    --number.exponent;
  }
  return number;
}

// Multiplies by `factor` to the `power`; fails on overflow.
bool multiply(Wide& number, unsigned factor, int power) {
  for (; power > 0; --power) {
    if (number > ~Wide{0} / factor) return false;
    number *= factor;
  }
  return true;
}

// digits x 2^exponent x 5^exponent as a fraction in lowest terms.
std::optional<CountScale> to_fraction(const Decimal& number) {
  Wide numerator = number.digits;
  Wide denominator = 1;
  for (const unsigned prime : {2U, 5U}) {
    int power = number.exponent;
    while (power < 0 && numerator % prime == 0) {
      numerator /= prime;
      ++power;
    }
    const bool fits = power < 0 ? multiply(denominator, prime, -power) : multiply(numerator, prime, power);
    if (!fits) return std::nullopt;
  }
  constexpr Wide kMost = Wide{1} << 62;
  if (numerator == 0 || numerator > kMost || denominator > kMost) return std::nullopt;
  return CountScale{static_cast<std::int64_t>(numerator), static_cast<std::int64_t>(denominator)};
}

}  // namespace

std::optional<std::uint64_t> parse_event_config(std::string_view text) {
  text = trim(text);
  constexpr std::string_view kTerm = "event=";
  if (!text.starts_with(kTerm)) return std::nullopt;
  text.remove_prefix(kTerm.size());
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  unsigned value = 0;
  const auto* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value, hexadecimal ? 16 : 10);
  if (parsed.ec != std::errc{} || parsed.ptr != end || value > 0xff) return std::nullopt;
  return value;
}

std::optional<CountScale> parse_count_scale(std::string_view scale, std::string_view unit) {
  if (trim(unit) != "Joules") return std::nullopt;
  auto number = parse_decimal(trim(scale));
  if (!number) return std::nullopt;
  number->exponent += 6;  // microjoules
  return to_fraction(*number);
}

Result<Microjoules> scale_count(std::uint64_t count, const CountScale& scale) {
  const Wide energy = Wide{count} * static_cast<Wide>(scale.numerator) / static_cast<Wide>(scale.denominator);
  if (energy > static_cast<Wide>(std::numeric_limits<std::int64_t>::max())) {
    return Error{.message = fmt::format("a count of {} is more than a counter holds", count)};
  }
  return Microjoules{static_cast<std::int64_t>(energy)};
}

const EnergyEvent* find_energy_event(std::string_view event, bool amd) {
  static constexpr std::array kEvents = {
      EnergyEvent{"energy-pkg", "package", true}, EnergyEvent{"energy-ram", "dram", true},
      EnergyEvent{"energy-cores", "core"},        EnergyEvent{"energy-gpu", "uncore"},
      EnergyEvent{"energy-psys", "psys"},
  };
  if (amd && event == "energy-cores") return nullptr;
  const auto* const found =
      std::find_if(kEvents.begin(), kEvents.end(), [&](const EnergyEvent& e) { return e.event == event; });
  return found == kEvents.end() ? nullptr : found;
}

std::vector<int> zone_indices(const std::vector<CpuPlace>& places) {
  const std::set<CpuPlace> dies(places.begin(), places.end());
  std::set<int> packages;
  for (const auto& place : places) packages.insert(place.package);
  std::vector<int> indices;
  for (const auto& place : places) {
    const auto ordinal = static_cast<int>(std::distance(dies.begin(), dies.find(place)));
    indices.push_back(packages.size() == dies.size() ? place.package : ordinal);
  }
  return indices;
}

}  // namespace keplerd
