// SPDX-License-Identifier: Apache-2.0
// Who asks, as far as it matters for what is told.
#pragma once

#include <sys/types.h>

namespace keplerd {

struct Caller {
  uid_t user = static_cast<uid_t>(-1);  // -1: not known; nothing is this user's
  bool full = false;                    // sees everything, causes samples, sets the pace
};

// keplerd itself.
inline constexpr Caller kInside{.user = static_cast<uid_t>(-1), .full = true};

}  // namespace keplerd
