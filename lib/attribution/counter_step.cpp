// SPDX-License-Identifier: Apache-2.0
#include "attribution/counter_step.h"

#include <algorithm>

namespace keplerd {
namespace {

constexpr Microwatts kNoMachineDraws{5'000'000'000};            // 5 kW in one zone
constexpr Microwatts kNoPlatformDraws{100'000'000'000};         // 100 kW in one that is not divided
constexpr Microwatts kLargestLimit{kNoMachineDraws.value / 2};  // a larger limit is garbage
constexpr Microwatts kPackageAtLeast{1'000'000'000};
constexpr Microwatts kDramAtLeast{200'000'000};

// Counters move in steps (of 1 ms, and up to a joule), so a shorter window is judged as if it were this long.
constexpr Nanoseconds kJudgedSpan = std::chrono::seconds(1);

}  // namespace

Microjoules counter_delta(Microjoules previous, Microjoules current, Microjoules range) {
  if (current >= previous) return current - previous;
  if (range < previous) return {};
  return range - previous + current;
}

std::string_view verdict_text(StepVerdict verdict) {
  switch (verdict) {
    case StepVerdict::kCounted:
      return "counted";
    case StepVerdict::kReset:
      return "the counter was reset";
    case StepVerdict::kImpossible:
      return "the counter increased by an implausible amount";
    case StepVerdict::kSuspended:
      return "the host was suspended";
    case StepVerdict::kAmbiguous:
      return "the counter may have wrapped more than once";
  }
  return "";
}

Microwatts highest_power(const Zone& zone) {
  const Microwatts at_least = zone.name == "dram" ? kDramAtLeast : kPackageAtLeast;
  // Some firmware reports 4,095 W for "none". Trusting it would let a counter wrap twice within seconds.
  const Microwatts limit = zone.largest_limit <= kLargestLimit ? zone.largest_limit : Microwatts{};
  return std::max(Microwatts{limit.value * 2}, at_least);
}

JudgedStep judge_step(const Zone& zone, const CounterStep& step) {
  if (step.suspended) return {StepVerdict::kSuspended, {}};

  const Nanoseconds span = std::max(step.elapsed, kJudgedSpan);
  const Microjoules at_most = energy_of(highest_power(zone), span);
  if (zone.range > Microjoules{} && at_most >= zone.range) return {StepVerdict::kAmbiguous, {}};

  const Microjoules energy = counter_delta(step.previous, step.current, zone.range);
  if (step.current < step.previous) {
    const bool wrapped = zone.range >= step.previous && energy <= at_most;
    return wrapped ? JudgedStep{StepVerdict::kCounted, energy} : JudgedStep{StepVerdict::kReset, {}};
  }
  const Microwatts most = zone.resource == Resource::kNone ? kNoPlatformDraws : kNoMachineDraws;
  if (energy > energy_of(most, span)) return {StepVerdict::kImpossible, {}};
  return {StepVerdict::kCounted, energy};
}

}  // namespace keplerd
