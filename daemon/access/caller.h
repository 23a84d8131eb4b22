// SPDX-License-Identifier: Apache-2.0
// Who asks, as far as it matters for what is told.
#pragma once

#include <cstdint>

#include <sys/types.h>

namespace keplerd {

struct Caller {
  uid_t user = static_cast<uid_t>(-1);  // -1: not known; nothing is this user's
  bool full = false;                    // sees everything, causes samples, sets the pace
  // Whose places and time a caller without full access takes: its login's; all whose login is not known are
  // this one.
  std::uint64_t account = UINT64_MAX;
};

// keplerd itself.
inline constexpr Caller kInside{.user = static_cast<uid_t>(-1), .full = true};

}  // namespace keplerd
