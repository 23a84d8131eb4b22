// SPDX-License-Identifier: Apache-2.0
#include "cli/output/human.h"

#include <array>
#include <ctime>
#include <span>

#include <fmt/format.h>

#include "cli/output/scales.h"

namespace keplerd::cli {
namespace {

using Wide = __int128;

constexpr std::int64_t kMinute = 60;

// `value / size` with two, one or no decimals, whichever leaves three significant digits.
struct Rounded {
  Wide digits;
  int decimals;
};

Rounded round_to_three_digits(Wide value, Wide size) {
  Wide factor = 100;
  for (int decimals = 2; decimals > 0; --decimals, factor /= 10) {
    const Wide digits = (value * factor + size / 2) / size;
    if (digits < 1000) return {digits, decimals};
  }
  return {(value + size / 2) / size, 0};
}

std::string decimal(Rounded number) {
  const auto digits = static_cast<std::int64_t>(number.digits);
  if (number.decimals == 0) return fmt::format("{}", digits);
  const std::int64_t factor = number.decimals == 2 ? 100 : 10;
  return fmt::format("{}.{:0{}}", digits / factor, digits % factor, number.decimals);
}

bool reaches(Rounded number, std::int64_t limit) {
  const Wide factor = number.decimals == 2 ? 100 : number.decimals == 1 ? 10 : 1;
  return number.digits >= limit * factor;
}

// Nothing if `value` is beyond the last scale.
std::string scaled(std::int64_t value, std::span<const Scale> scales) {
  for (const Scale& scale : scales) {
    // The smallest unit is an integer on the wire: it has no decimals to show.
    const Rounded number = scale.size == 1 ? Rounded{value, 0} : round_to_three_digits(value, scale.size);
    if (!reaches(number, scale.limit)) return decimal(number) + " " + std::string(scale.name);
  }
  return {};
}

std::string long_span(std::int64_t seconds) {
  constexpr std::array<std::pair<std::int64_t, std::string_view>, 4> kParts = {
      {{86400, "d"}, {3600, "h"}, {kMinute, "min"}, {1, "s"}}};
  for (std::size_t i = 0; i + 1 < kParts.size(); ++i) {
    const auto [size, name] = kParts[i];
    if (seconds < size) continue;
    const auto [next_size, next_name] = kParts[i + 1];
    const std::int64_t rest = seconds % size / next_size;
    const std::string whole = fmt::format("{}{}", seconds / size, name);
    return rest == 0 ? whole : fmt::format("{} {}{}", whole, rest, next_name);
  }
  return fmt::format("{} s", seconds);
}

std::string local_time_text(std::chrono::microseconds since_1970, const char* format) {
  const std::time_t seconds = since_1970.count() / 1'000'000;
  std::tm parts{};
  std::array<char, 64> text{};
  if (since_1970.count() < 0 || localtime_r(&seconds, &parts) == nullptr) return "-";
  const std::size_t length = std::strftime(text.data(), text.size(), format, &parts);
  return {text.data(), length};
}

constexpr int kMicroDecimals = 6;

}  // namespace

std::string format_power(Microwatts power) {
  if (power.value < 0) return "-";
  return power.value == 0 ? "0 W" : scaled(power.value, kPowerScales);
}

std::string format_energy(Microjoules energy) {
  if (energy.value < 0) return "-";
  return energy.value == 0 ? "0 J" : scaled(energy.value, kEnergyScales);
}

std::string format_time(std::chrono::microseconds span) {
  if (span.count() < 0) return "-";
  if (span.count() == 0) return "0 s";
  std::string brief = scaled(span.count(), kShortTimeScales);
  if (!brief.empty()) return brief;
  // Values that round up to a minute at three digits are shown as one; above that, seconds are truncated, as
  // systemd does.
  return long_span(std::max(kMinute, span.count() / 1'000'000));
}

int cost_decimals(MicroCurrency largest) {
  int decimals = kMicroDecimals;
  for (Wide step = 1; decimals > 2 && (largest.value + step / 2) / step >= 1000; step *= 10) --decimals;
  return decimals;
}

std::string format_cost(MicroCurrency cost, int decimals) {
  if (cost.value < 0) return "-";
  Wide step = 1, one = 1;
  for (int i = decimals; i < kMicroDecimals; ++i) step *= 10;
  for (int i = 0; i < decimals; ++i) one *= 10;
  const Wide digits = (cost.value + step / 2) / step;
  if (digits == 0 && cost.value > 0) return fmt::format("<0.{:0{}}", 1, decimals);
  return fmt::format("{}.{:0{}}", static_cast<std::int64_t>(digits / one),
                     static_cast<std::int64_t>(digits % one), decimals);
}

std::string format_cost(MicroCurrency cost) {
  return cost.value == 0 ? "less than 0.000001" : format_cost(cost, cost_decimals(cost));
}

std::string format_carbon(Milligrams carbon) {
  if (carbon.value < 0) return "-";
  return carbon.value == 0 ? "less than 1 mgCO2e" : scaled(carbon.value, kCarbonScales);
}

std::string format_date(std::chrono::microseconds since_1970) {
  return local_time_text(since_1970, "%a %Y-%m-%d %H:%M:%S %Z");
}

std::string format_clock(std::chrono::microseconds since_1970) {
  return local_time_text(since_1970, "%H:%M:%S");
}

}  // namespace keplerd::cli
