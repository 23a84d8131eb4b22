// SPDX-License-Identifier: Apache-2.0
// What the host draws at the plug, as a line over what its processors, memory and graphics cards draw:
//   platform = offset + slope x parts
// The slope includes the losses of power supply and voltage regulators and the fans' share, the offset what
// does not depend on load (R. Kavanagh, K. Djemame, "Rapid and accurate energy models through calibration
// with IPMI and RAPL", 2019). It is fitted while running: observations of ten seconds are collected by the
// parts' power, and of each power only the newest count, so that a load that is constant for hours does not
// displace what was learned of others. Without different loads there is no fit. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "attribution/platform/moments.h"
#include "base/units.h"

namespace keplerd {

class WallLine {
 public:
  struct Fit {
    double slope = 0;
    Microwatts offset;
    double error_percent =
        0;  // one standard deviation of the platform's power from the line, as a part of it
    std::uint64_t samples = 0;

    // The platform's power if its parts draw this.
    Microwatts power(Microwatts parts) const;
    bool operator==(const Fit&) const = default;
  };

  // What both drew in the same span of time.
  void add(Nanoseconds span, Microjoules parts, Microjoules platform);
  // An observation that has begun is abandoned.
  void interrupt() { span_ = Nanoseconds{0}, parts_ = platform_ = {}; }

  // Unset unless the parts' power has varied enough for a slope, which is plausible and known to a tenth.
  const std::optional<Fit>& fit() const { return fit_; }

  // What was learned, to be saved: by the number of the power's class.
  static constexpr std::size_t kClasses = 128;
  using Memory = std::vector<std::pair<std::size_t, Moments>>;
  Memory memory() const;
  void restore(const Memory& memory);

 private:
  void update_fit();

  std::array<Moments, kClasses> classes_{};  // x: watts of the parts, y: of the platform
  Nanoseconds span_{0};                      // of the present observation
  Microjoules parts_, platform_;
  std::optional<Fit> fit_;
};

}  // namespace keplerd
