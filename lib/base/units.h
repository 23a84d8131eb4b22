// SPDX-License-Identifier: Apache-2.0
// Energy, power, CPU time and amounts of data as types. Energy is an integer number of microjoules from the
// counter to the wire, so that sums are exact; nothing in this project holds joules in a floating-point
// number.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace keplerd {

// A signed 64-bit amount of one unit. Signed, so that a difference that turns out negative is seen as such
// instead of wrapping to 2^64. 2^63 uJ is 292 years at 1 kW.
template <class Tag>
struct Quantity {
  std::int64_t value = 0;

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity& operator+=(Quantity other) {
    value += other.value;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value -= other.value;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
};

using Microjoules = Quantity<struct MicrojoulesTag>;
using Microwatts = Quantity<struct MicrowattsTag>;
// Of what the hardware counts of a group: the unit depends on what it is (CountKind).
using Count = Quantity<struct CountTag>;

// CPU time, and spans of the monotonic clock.
using Nanoseconds = std::chrono::nanoseconds;

// In whole microseconds, as interfaces show it.
constexpr std::int64_t to_usec(Nanoseconds span) {
  return std::chrono::duration_cast<std::chrono::microseconds>(span).count();
}

// Power over a shorter span is noise (counters move about once a millisecond) and is not reported.
inline constexpr Nanoseconds kShortestPowerSpan = std::chrono::milliseconds(50);

// Mean power of `energy` spent in `span`, rounded down to whole microwatts. `span` must be positive.
constexpr Microwatts mean_power(Microjoules energy, Nanoseconds span) {
  return {static_cast<std::int64_t>(static_cast<__int128>(energy.value) * 1'000'000'000 / span.count())};
}

// Energy of a constant `power` over `span`, rounded down to whole microjoules.
constexpr Microjoules energy_of(Microwatts power, Nanoseconds span) {
  return {static_cast<std::int64_t>(static_cast<__int128>(power.value) * span.count() / 1'000'000'000)};
}

}  // namespace keplerd
