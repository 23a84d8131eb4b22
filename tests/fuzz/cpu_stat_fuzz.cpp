// SPDX-License-Identifier: Apache-2.0
// An accepted group's time is non-negative and in whole microseconds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "usage/cgroup_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  keplerd::parse_populated(text);
  const auto usage = keplerd::parse_cpu_stat(text);
  if (usage && (usage->count() < 0 || usage->count() % 1000 != 0)) std::abort();
  return 0;
}
