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
  bool counted = true;  // the views that it holds are: not of keplerd itself, and of who has full access

  // Who has what is counted by login; a user whose login is not known, where others shall not suffer for it.
  std::uint64_t payer() const { return account != UINT64_MAX ? account : (std::uint64_t{1} << 32) + user; }

  // The same who asks for what everybody sees.
  Caller as_public() const { return {.account = payer(), .counted = counted && !full}; }
};

// keplerd itself.
inline constexpr Caller kInside{.user = static_cast<uid_t>(-1), .full = true};

}  // namespace keplerd
