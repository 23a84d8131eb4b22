// SPDX-License-Identifier: Apache-2.0
// What went wrong in single samples, for an hour: windows whose energy was not counted, and steps of the time
// of day. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "attribution/attributor.h"
#include "base/units.h"
#include "energy/zone.h"

namespace keplerd {

class RecentFaults {
 public:
  static constexpr Nanoseconds kRecent = std::chrono::hours(1);
  static constexpr Nanoseconds kSmallestStep = std::chrono::seconds(1);  // smaller ones are corrections

  // After each sample. `zones`: those of its readings. Windows across a suspend are none: laptops have them
  // every day.
  void note(const Sample& sample, const Attribution& attribution, std::span<const Zone> zones);

  // A description for humans; unset if there was none in the last hour.
  std::optional<std::string> windows() const;
  std::optional<std::string> clock() const;

 private:
  struct Fault {
    std::uint64_t count = 0;  // without an hour between two of them
    Nanoseconds last{0};      // CLOCK_BOOTTIME
    std::string what;         // the last one
  };
  void add(std::optional<Fault>& fault, std::string what) const;
  void note_clock(const Instant& at);

  std::optional<Instant> last_;
  Nanoseconds now_{0};  // CLOCK_BOOTTIME
  std::optional<Fault> windows_, clock_;
};

}  // namespace keplerd
