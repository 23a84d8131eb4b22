// SPDX-License-Identifier: Apache-2.0
// An accepted group's time is non-negative and in whole microseconds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "usage/cgroup_tree.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto usage = keplerd::parse_cpu_stat({reinterpret_cast<const char*>(data), size});
  if (usage && (usage->count() < 0 || usage->count() % 1000 != 0)) std::abort();
  return 0;
}
