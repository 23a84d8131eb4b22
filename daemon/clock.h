// SPDX-License-Identifier: Apache-2.0
// The daemon's source of time, which tests replace.
#pragma once

#include <functional>

#include <sys/types.h>

#include "attribution/sample.h"

namespace keplerd {

using Clock = std::function<Instant()>;

Instant read_system_clocks();
Nanoseconds read_clock(clockid_t clock);  // clock_gettime(2)

}  // namespace keplerd
