// SPDX-License-Identifier: Apache-2.0
// Where the daemon gets the time from, so that tests can tell it.
#pragma once

#include <functional>

#include "attribution/sample.h"

namespace keplerd {

using Clock = std::function<Instant()>;

Instant read_system_clocks();

}  // namespace keplerd
