// SPDX-License-Identifier: Apache-2.0
#include "daemon/recent_faults.h"

#include <chrono>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace keplerd {

void RecentFaults::note(const Sample& sample, const Attribution& attribution, std::span<const Zone> zones) {
  now_ = sample.at.boottime;
  for (auto* const fault : {&windows_, &clock_})
    if (*fault && now_ - (*fault)->last > kRecent) fault->reset();
  for (std::size_t i = 0; i < zones.size(); ++i) {
    const StepVerdict verdict = attribution.zones[i].verdict;
    if (verdict == StepVerdict::kCounted || verdict == StepVerdict::kSuspended) continue;
    add(windows_, fmt::format("{}: {}", zones[i].id, verdict_text(verdict)));
  }
  note_clock(sample.at);
}

// CLOCK_BOOTTIME goes on during a suspend, as the time of day does, and is never set.
void RecentFaults::note_clock(const Instant& at) {
  const auto before = std::exchange(last_, at);
  if (!before) return;
  const Nanoseconds step = at.realtime - before->realtime - (at.boottime - before->boottime);
  if (std::chrono::abs(step) < kSmallestStep) return;
  add(clock_, fmt::format("{} by {} s", step > Nanoseconds{0} ? "forward" : "back",
                          std::chrono::abs(step) / std::chrono::seconds(1)));
}

void RecentFaults::add(std::optional<Fault>& fault, std::string what) const {
  if (!fault) fault.emplace();
  ++fault->count;
  fault->last = now_;
  fault->what = std::move(what);
}

std::optional<std::string> RecentFaults::windows() const {
  if (!windows_) return std::nullopt;
  if (windows_->count == 1) return "the energy of a window was not counted: " + windows_->what;
  return fmt::format("the energy of {} windows was not counted, the last one of {}", windows_->count,
                     windows_->what);
}

std::optional<std::string> RecentFaults::clock() const {
  if (!clock_) return std::nullopt;
  if (clock_->count == 1) return "the time of day was set " + clock_->what;
  return fmt::format("the time of day was set {} times, the last time {}", clock_->count, clock_->what);
}

}  // namespace keplerd
