// SPDX-License-Identifier: Apache-2.0
#include "config/time_span.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "base/parse.h"

namespace keplerd {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t size;  // in nanoseconds, or in microjoules
};

constexpr std::int64_t kMicrosecond = 1'000;
constexpr std::int64_t kMillisecond = 1'000 * kMicrosecond;
constexpr std::int64_t kSecond = 1'000 * kMillisecond;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;

// The names of systemd.time(7). A month is 30.44 days, a year 365.25 days there.
constexpr Unit kTimeUnits[] = {
    {"ns", 1},
    {"nsec", 1},
    {"us", kMicrosecond},
    {"usec", kMicrosecond},
    {"µs", kMicrosecond},
    {"μs", kMicrosecond},
    {"ms", kMillisecond},
    {"msec", kMillisecond},
    {"s", kSecond},
    {"sec", kSecond},
    {"second", kSecond},
    {"seconds", kSecond},
    {"m", kMinute},
    {"min", kMinute},
    {"minute", kMinute},
    {"minutes", kMinute},
    {"h", kHour},
    {"hr", kHour},
    {"hour", kHour},
    {"hours", kHour},
    {"d", kDay},
    {"day", kDay},
    {"days", kDay},
    {"w", 7 * kDay},
    {"week", 7 * kDay},
    {"weeks", 7 * kDay},
    {"M", 2'629'800 * kSecond},
    {"month", 2'629'800 * kSecond},
    {"months", 2'629'800 * kSecond},
    {"y", 31'557'600 * kSecond},
    {"year", 31'557'600 * kSecond},
    {"years", 31'557'600 * kSecond},
};

// What format_time_span writes, largest first.
constexpr Unit kWrittenTimeUnits[] = {{"d", kDay},    {"h", kHour},         {"min", kMinute},
                                      {"s", kSecond}, {"ms", kMillisecond}, {"us", kMicrosecond},
                                      {"ns", 1}};

constexpr std::int64_t kJoule = 1'000'000;

constexpr Unit kEnergyUnits[] = {
    {"uJ", 1},
    {"µJ", 1},
    {"μJ", 1},
    {"mJ", 1'000},
    {"J", kJoule},
    {"kJ", 1'000 * kJoule},
    {"MJ", 1'000'000 * kJoule},
    {"GJ", 1'000'000'000 * kJoule},
    {"mWh", 3'600'000},
    {"Wh", 3'600 * kJoule},
    {"kWh", 3'600'000 * kJoule},
    {"MWh", 3'600'000'000 * kJoule},
};

constexpr Unit kWrittenEnergyUnits[] = {
    {"MJ", 1'000'000 * kJoule}, {"kJ", 1'000 * kJoule}, {"J", kJoule}, {"mJ", 1'000}, {"uJ", 1}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

template <class Predicate>
std::string_view take_while(std::string_view& rest, Predicate wanted) {
  const auto end = std::find_if_not(rest.begin(), rest.end(), wanted);
  const auto part = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  rest.remove_prefix(part.size());
  return part;
}

struct Amount {
  std::string_view whole;     // decimal digits
  std::string_view fraction;  // decimal digits after the point; may be empty
  std::string_view unit;      // may be empty
};

// Takes "12", "1.5s" or "2 kJ" and the blanks around it off the front of `rest`.
std::optional<Amount> take_amount(std::string_view& rest) {
  Amount amount;
  take_while(rest, is_blank);
  amount.whole = take_while(rest, is_digit);
  if (amount.whole.empty()) return std::nullopt;
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    amount.fraction = take_while(rest, is_digit);
    if (amount.fraction.empty()) return std::nullopt;
  }
  take_while(rest, is_blank);
  amount.unit = take_while(rest, [](char c) { return !is_digit(c) && !is_blank(c) && c != '.'; });
  take_while(rest, is_blank);
  return amount;
}

std::optional<std::int64_t> unit_size(std::string_view name, std::span<const Unit> units) {
  const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == name; });
  if (unit == units.end()) return std::nullopt;
  return unit->size;
}

// The amount in units of `size`, rounded down.
std::optional<std::int64_t> scale(const Amount& amount, std::int64_t size) {
  const auto whole = parse_number<std::int64_t>(amount.whole);
  if (!whole) return std::nullopt;
  std::int64_t tenths = 0;
  std::int64_t divisor = 1;
  for (const char digit : amount.fraction.substr(0, 18)) {  // all that 64 bits hold
    tenths = tenths * 10 + (digit - '0');
    divisor *= 10;
  }
  const __int128 total =
      static_cast<__int128>(*whole) * size + static_cast<__int128>(tenths) * size / divisor;
  if (total > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  return static_cast<std::int64_t>(total);
}

}  // namespace

std::optional<Nanoseconds> parse_time_span(std::string_view text) {
  std::string_view rest = trim(text);
  std::int64_t sum = 0;
  bool first = true;
  do {
    const auto amount = take_amount(rest);
    if (!amount) return std::nullopt;
    // Only a number that stands alone may go without a unit: "1min 30" is more likely a slip than 90 s.
    const bool bare = amount->unit.empty() && first && rest.empty();
    const auto size = bare ? kSecond : unit_size(amount->unit, kTimeUnits);
    if (!size) return std::nullopt;
    const auto part = scale(*amount, *size);
    if (!part || __builtin_add_overflow(sum, *part, &sum)) return std::nullopt;
    first = false;
  } while (!rest.empty());
  return Nanoseconds(sum);
}

std::string format_time_span(Nanoseconds span) {
  assert(span.count() >= 0);
  std::int64_t rest = span.count();
  std::string out;
  for (const Unit& unit : kWrittenTimeUnits) {
    if (rest < unit.size) continue;
    if (!out.empty()) out += ' ';
    out += std::to_string(rest / unit.size);
    out += unit.name;
    rest %= unit.size;
  }
  return out.empty() ? "0" : out;
}

std::optional<Microjoules> parse_energy(std::string_view text) {
  std::string_view rest = trim(text);
  const auto amount = take_amount(rest);
  if (!amount || !rest.empty()) return std::nullopt;
  const auto size = amount->unit.empty() ? kJoule : unit_size(amount->unit, kEnergyUnits);
  if (!size) return std::nullopt;
  const auto energy = scale(*amount, *size);
  if (!energy) return std::nullopt;
  return Microjoules{*energy};
}

std::string format_energy(Microjoules energy) {
  assert(energy.value >= 0);
  if (energy.value == 0) return "0";
  const auto unit = std::find_if(std::begin(kWrittenEnergyUnits), std::end(kWrittenEnergyUnits),
                                 [&](const Unit& u) { return energy.value % u.size == 0; });
  return std::to_string(energy.value / unit->size) + std::string(unit->name);
}

}  // namespace keplerd
