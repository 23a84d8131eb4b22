// SPDX-License-Identifier: Apache-2.0
// Where the daemon gets the time from, so that tests can tell it.
#pragma once

#include <functional>

#include <sys/types.h>

#include "attribution/sample.h"

namespace keplerd {

using Clock = std::function<Instant()>;

Instant read_system_clocks();
Nanoseconds read_clock(clockid_t clock);  // clock_gettime(2)

}  // namespace keplerd
