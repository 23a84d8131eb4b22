// SPDX-License-Identifier: Apache-2.0
// What the step of an energy counter between two readings means. Counters wrap (RAPL's are 32 bits wide: a
// package at 350 W comes round in 188 to 750 s), and are reset by resume from suspend and by a reloaded
// driver. Taking the one for the other invents up to the whole range: 262 kJ in one window.
#pragma once

#include <string_view>

#include "base/units.h"
#include "energy/zone.h"

namespace keplerd {

// The difference of two readings, a step back taken for a wrap at `range` (0 where the counter has none: then
// 0).
Microjoules counter_delta(Microjoules previous, Microjoules current, Microjoules range);

enum class StepVerdict {
  kCounted,
  kReset,       // went back, and not by a wrap that the hardware could have made
  kImpossible,  // went forward by more than any machine draws
  kSuspended,   // across a suspend, after which counters may or may not have gone on
  kAmbiguous,   // so much time has passed that it may have wrapped more than once
};

// "went back by more than a wrap explains", ... for logs.
std::string_view verdict_text(StepVerdict verdict);

struct CounterStep {
  Microjoules previous;
  Microjoules current;
  Nanoseconds elapsed{0};  // CLOCK_MONOTONIC
  bool suspended = false;  // CLOCK_BOOTTIME went on further than CLOCK_MONOTONIC
};

struct JudgedStep {
  StepVerdict verdict = StepVerdict::kCounted;
  Microjoules energy;  // 0 unless counted
};

// The most that `zone` can draw, for telling a wrap from a reset: twice its largest power limit, but at least
// 1 kW (200 W for DRAM), because limits are averages that turbo exceeds, and some are far too low or missing.
Microwatts highest_power(const Zone& zone);

JudgedStep judge_step(const Zone& zone, const CounterStep& step);

}  // namespace keplerd
