// SPDX-License-Identifier: Apache-2.0
// Accepted ticks are non-negative, interrupts are part of the busy ones, and their total does not overflow.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "usage/cpu_ticks.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto ticks = keplerd::parse_cpu_ticks({reinterpret_cast<const char*>(data), size});
  if (!ticks) return 0;
  if (ticks->busy < 0 || ticks->idle < 0 || ticks->interrupts < 0) std::abort();
  if (ticks->interrupts > ticks->busy) std::abort();
  if (ticks->busy + ticks->idle < ticks->busy) std::abort();  // the total does not overflow
  return 0;
}
