// SPDX-License-Identifier: Apache-2.0
// Priorities on keplerd's event loop, as passed to sd_event_source_set_priority(3). Sources of the same
// priority take turns.
#pragma once

#include <cstdint>

namespace keplerd::priority {

inline constexpr std::int64_t kSampling = -100;     // SD_EVENT_PRIORITY_IMPORTANT
inline constexpr std::int64_t kNormal = 0;          // input, timers, answers to callers with full access
inline constexpr std::int64_t kLimitedAccess = 50;  // answers to callers with limited access

}  // namespace keplerd::priority
