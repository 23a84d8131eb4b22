// SPDX-License-Identifier: Apache-2.0
#include "cli/output/column_unit.h"

#include <span>

#include <fmt/format.h>

namespace keplerd::cli {
namespace {

using Wide = __int128;

struct Family {
  std::span<const Scale> scales;
  std::size_t base;  // for a column of zeros
};

Family family_of(Quantity quantity) {
  constexpr std::size_t kWhole = 2;  // W, J, s
  switch (quantity) {
    case Quantity::kPower:
      return {kPowerScales, kWhole};
    case Quantity::kEnergy:
      return {kEnergyScales, kWhole};
    case Quantity::kCarbon:
      return {kCarbonScales, 1};
    case Quantity::kTime:
      break;
  }
  return {kColumnTimeScales, kWhole};
}

// In hundredths, rounded half up.
Wide hundredths(Wide part, Wide whole) { return (part * 100 + whole / 2) / whole; }

std::string decimals(Wide value) {
  if (value == 0) return "<0.01";
  return fmt::format("{}.{:02}", static_cast<std::int64_t>(value / 100), static_cast<int>(value % 100));
}

}  // namespace

ColumnUnit::ColumnUnit(Quantity quantity, std::int64_t largest) {
  const auto [scales, base] = family_of(quantity);
  scale_ = &scales[base];
  if (largest <= 0) return;
  for (const Scale& scale : scales) {
    scale_ = &scale;
    const bool fits =
        scale.size == 1 ? largest < scale.limit : hundredths(largest, scale.size) < Wide{scale.limit} * 100;
    if (fits) return;
  }
}

std::string ColumnUnit::text(std::int64_t amount) const {
  const std::string digits = number(amount);
  return amount < 0 ? digits : fmt::format("{} {}", digits, scale_->name);
}

std::string ColumnUnit::number(std::int64_t amount) const {
  if (amount < 0) return "-";
  // The smallest unit is an integer on the wire: it has no decimals to show.
  if (scale_->size == 1) return std::to_string(amount);
  return amount == 0 ? "0.00" : decimals(hundredths(amount, scale_->size));
}

std::string format_percent(std::int64_t part, std::int64_t whole) {
  if (part < 0 || whole <= 0) return "-";
  return part == 0 ? "0.00%" : decimals(hundredths(Wide{part} * 100, whole)) + "%";
}

}  // namespace keplerd::cli
