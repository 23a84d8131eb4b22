// SPDX-License-Identifier: Apache-2.0
// Formats the amounts of a column, or of a sum, in one unit with aligned decimals, so that they can be
// compared at a glance.
#pragma once

#include <cstdint>
#include <string>

#include "cli/output/scales.h"

namespace keplerd::cli {

// In microwatts, microjoules, microseconds, milligrams of CO2e.
enum class Quantity { kPower, kEnergy, kTime, kCarbon };

class ColumnUnit {
 public:
  // The unit that suits the `largest` amount.
  ColumnUnit(Quantity quantity, std::int64_t largest);

  // "12.30 W"; "<0.01 W" for what would be 0.00 but is not zero; "-" for an impossible (negative) amount.
  std::string text(std::int64_t amount) const;
  // The same without the unit, for the parts of a sum: "12.30".
  std::string number(std::int64_t amount) const;

 private:
  const Scale* scale_;
};

// "12.30%", "<0.01%", "100.00%"; "-" if the whole is 0.
std::string format_percent(std::int64_t part, std::int64_t whole);

}  // namespace keplerd::cli
