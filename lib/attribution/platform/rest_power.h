// SPDX-License-Identifier: Apache-2.0
// What the platform draws in addition to the parts that are measured apart, as statistics of the last
// minutes: whether a negative value is noise, or the meters contradict each other. Pure.
#pragma once

#include <optional>

#include "attribution/platform/moments.h"
#include "base/units.h"

namespace keplerd {

class RestPower {
 public:
  // What both drew in the same span of time.
  void add(Nanoseconds span, Microjoules parts, Microjoules platform);

  // Half the width of the 95 % interval of a single window's power: the meters' errors and the scatter of the
  // last minutes. Unset in the first minute.
  std::optional<Microwatts> error() const;

  // The mean powers of the last minutes, if the platform's is below that of its parts by more than the
  // meters' errors.
  struct Contradiction {
    Microwatts parts, platform;
    bool operator==(const Contradiction&) const = default;
  };
  std::optional<Contradiction> contradiction() const;

 private:
  double meters_variance() const;

  Moments moments_;     // x: watts of the parts, y: of the platform; weighed by seconds
  double scatter_ = 0;  // variance of the rest from one window to the next
  std::optional<double> last_;
};

}  // namespace keplerd
