// SPDX-License-Identifier: Apache-2.0
// The caller, as far as it matters for access.
#pragma once

#include <cstdint>

#include <sys/types.h>

namespace keplerd {

struct Caller {
  uid_t user = static_cast<uid_t>(-1);  // -1: unknown; owns nothing
  bool full = false;                    // sees everything, triggers samples, sets the pace
  // The account charged with the places and time of a caller without full access: its login; callers of
  // unknown login share one.
  std::uint64_t account = UINT64_MAX;
  bool counted = true;  // the views it holds count: not for keplerd itself, nor with full access

  // Resources are counted by login, or by user if the login is unknown and others must not be affected.
  std::uint64_t payer() const { return account != UINT64_MAX ? account : (std::uint64_t{1} << 32) + user; }

  // The same caller, requesting what everyone may see.
  Caller as_public() const { return {.account = payer(), .counted = counted && !full}; }
};

// keplerd itself.
inline constexpr Caller kInside{.user = static_cast<uid_t>(-1), .full = true};

}  // namespace keplerd
