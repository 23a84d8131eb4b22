// SPDX-License-Identifier: Apache-2.0
// Interprets the step of an energy counter between two readings. Counters wrap (RAPL's are 32 bits wide: a
// package at 350 W wraps every 188 to 750 s), and are reset by resume from suspend and when a driver is
// reloaded. Mistaking one for the other invents up to the whole range: 262 kJ in one window.
#pragma once

#include <string_view>

#include "base/units.h"
#include "energy/zone.h"

namespace keplerd {

// The difference of two readings; a step back is taken for a wrap at `range` (or is 0 if the counter does not
// wrap: range 0).
Microjoules counter_delta(Microjoules previous, Microjoules current, Microjoules range);

enum class StepVerdict {
  kCounted,
  kReset,       // went back, and too far for a wrap
  kImpossible,  // advanced by more than any machine draws
  kSuspended,   // across a suspend, during which the counter may or may not have been running
  kAmbiguous,   // so much time has passed that the counter may have wrapped more than once
};

// "went back by more than a wrap explains", ... for logs.
std::string_view verdict_text(StepVerdict verdict);

struct CounterStep {
  Microjoules previous;
  Microjoules current;
  Nanoseconds elapsed{0};  // CLOCK_MONOTONIC
  bool suspended = false;  // CLOCK_BOOTTIME advanced further than CLOCK_MONOTONIC
};

struct JudgedStep {
  StepVerdict verdict = StepVerdict::kCounted;
  Microjoules energy;  // 0 unless counted
};

// The most that `zone` can draw, to distinguish a wrap from a reset: twice its largest power limit, but at
// least 1 kW (200 W for DRAM), since limits are averages that turbo exceeds, and some are far too low or
// missing.
Microwatts highest_power(const Zone& zone);

JudgedStep judge_step(const Zone& zone, const CounterStep& step);

}  // namespace keplerd
