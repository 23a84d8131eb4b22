// SPDX-License-Identifier: Apache-2.0
// The clock by which the server's time limits are measured.
#pragma once

#include <chrono>

#include "base/units.h"

namespace keplerd::exporter::http {

inline Nanoseconds read_clock() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace keplerd::exporter::http
