// SPDX-License-Identifier: Apache-2.0
// An accepted process has a pid, a non-negative time, and a name that is part of the text; a user is part of
// the text, too. CPUs are sorted.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "usage/process_stat.h"
#include "usage/thread_cpus.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto users = keplerd::parse_process_users(text)) {
    for (const auto user : {users->real, users->effective})
      if (text.find(std::to_string(user)) == std::string_view::npos) std::abort();
  }
  const auto cpus = keplerd::parse_allowed_cpus(text);
  if (!std::is_sorted(cpus.begin(), cpus.end())) std::abort();
  const auto stat = keplerd::parse_process_stat(text);
  if (!stat) return 0;
  if (stat->id.pid <= 0 || stat->usage < keplerd::Nanoseconds(0)) std::abort();
  if (text.find("(" + stat->comm + ")") == std::string_view::npos) std::abort();
  return 0;
}
