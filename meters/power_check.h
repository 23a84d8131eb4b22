// SPDX-License-Identifier: Apache-2.0
// Whether a management controller's power can be that of a host. Some report milliwatts for watts, some 0
// while they start. Pure.
#pragma once

#include <optional>

#include "base/result.h"
#include "base/units.h"

namespace keplerd::meters {

inline constexpr Microwatts kMostPlausible{100'000'000'000};  // 100 kW
inline constexpr Microwatts kLeastPlausible{1'000'000};       // a host that runs this program draws more

// Between two readings a host's power changes by less; another unit would be a thousand.
inline constexpr int kMostChange = 100;

class PowerCheck {
 public:
  // Fails, and forgets the value, if it is not plausible. A change of unit is refused until values are again
  // what they were: what is plausible is decided by the first one.
  Result<Done> check(Microwatts power);

 private:
  std::optional<Microwatts> last_;
};

}  // namespace keplerd::meters
