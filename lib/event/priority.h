// SPDX-License-Identifier: Apache-2.0
// Priorities on keplerd's event loop, as passed to sd_event_source_set_priority(3). Sources of the same
// priority take turns.
#pragma once

#include <cstdint>

namespace keplerd::priority {

inline constexpr std::int64_t kSampling = -100;  // SD_EVENT_PRIORITY_IMPORTANT
inline constexpr std::int64_t kNormal = 0;       // input, timers, answers to callers with full access
// Answers to callers with full access that take many steps: sd-event calls a deferred source before any input
// of the same priority, so that the loop would read nothing until they are done.
inline constexpr std::int64_t kLongAnswers = 25;
inline constexpr std::int64_t kLimitedAccess = 50;  // answers to callers with limited access

}  // namespace keplerd::priority
