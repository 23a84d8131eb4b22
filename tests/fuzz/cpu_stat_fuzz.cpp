// SPDX-License-Identifier: Apache-2.0
// An accepted group's time is non-negative and in whole microseconds; limits are not negative.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "usage/cgroup_files.h"
#include "usage/limit_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  keplerd::parse_populated(text);
  const auto usage = keplerd::parse_cpu_stat(text);
  if (usage && (usage->count() < 0 || usage->count() % 1000 != 0)) std::abort();
  const auto limit = keplerd::parse_cpu_max(text);
  if (limit && *limit && (*limit)->count() < 0) std::abort();
  const auto memory = keplerd::parse_memory_max(text);
  if (memory && *memory && **memory < 0) std::abort();
  const auto total = keplerd::parse_total_memory(text);
  if (total && *total <= 0) std::abort();
  return 0;
}
