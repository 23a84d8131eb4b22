// SPDX-License-Identifier: Apache-2.0
// What workloads draw at the plug (--wall): the active part of a row's power, that of graphics cards
// included, times the slope of the line that keplerd has fitted between processors, memory and graphics cards
// on one side, and the platform on the other. Idle power and the line's offset remain the host's. A model,
// and marked as such. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/kinds.h"
#include "varlink/json_fwd.h"

namespace keplerd::cli {

inline constexpr std::string_view kWallField = "wallMicrowatts", kWallEnergyField = "wallMicrojoules";

class Wall {
 public:
  static constexpr const char* kQuality = "modelled";

  // Of the reply of GetStatus or Monitor. Fails with the reason and what to do.
  static Result<Wall> of(const varlink::Json& status);

  // The power of a row at the plug, rounded down; unset if its power is not known.
  std::optional<std::int64_t> power(const varlink::Json& row) const;
  void add_to(varlink::Json& row) const;  // kWallField
  // Of energy in the past, without that of graphics cards, which is not recorded: kWallEnergyField.
  std::optional<std::int64_t> energy(const varlink::Json& row) const;
  void add_energy_to(varlink::Json& row) const;
  void add_to(std::vector<varlink::Json>& rows) const;
  void add_to_details(varlink::Json& row) const;  // says that it is modelled, too

  // The rows (each once, if some contain others) and all else, which add up to the platform's power by the
  // line, exactly.
  struct Sums {
    std::int64_t rows = 0, other = 0, platform = 0;
  };
  // Of rows that have kWallField. Unset if the power of the host is not known.
  std::optional<Sums> sums(const std::vector<varlink::Json>& rows, std::optional<client::Kind> kind) const;
  // The same where the host's active power is the only row.
  std::optional<Sums> host_sums(const varlink::Json& host) const;

  // {"quality": "modelled", "slope": 1.2, ..., "powerMicrowatts": N, "rowsMicrowatts": N, "otherMicrowatts":
  // N}
  varlink::Json json(const std::optional<Sums>& sums) const;
  // "At the plug (modelled): 61.2 W shown + 34.1 W other = 95.3 W."; empty if the sums are not known. `what`:
  // "shown"
  static std::string text(const std::optional<Sums>& sums, std::string_view what);
  // {"quality": "modelled", "powerMicrowatts": N, "rowsMicrowatts": N, "otherMicrowatts": N}
  static varlink::Json sums_json(const std::optional<Sums>& sums);

 private:
  std::optional<Sums> sums_of(std::int64_t rows) const;

  double slope_ = 1;
  std::int64_t offset_ = 0;
  double error_percent_ = 0;
  std::optional<std::int64_t> platform_;
};

// The line, if it is `wanted` (--wall); fails as Wall::of() does.
Result<std::optional<Wall>> wanted_wall(bool wanted, const varlink::Json& status);

// "1.21 x power + 30.0 W, +-3.2 %, by 60 observations": the line of GetStatus's `wall`.
std::string wall_line_text(const varlink::Json& wall);

}  // namespace keplerd::cli
