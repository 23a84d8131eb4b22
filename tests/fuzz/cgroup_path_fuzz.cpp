// SPDX-License-Identifier: Apache-2.0
// A process's group is part of one line of /proc/PID/cgroup, and not of another hierarchy's.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "usage/process_stat.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view path = keplerd::parse_process_cgroup(text);
  if (path.find('\n') != std::string_view::npos) std::abort();
  if (path.empty()) return 0;
  if (path.data() < text.data() + 3 || path.data() + path.size() > text.data() + size) std::abort();
  if (!std::string_view(path.data() - 3, 3).starts_with("0::")) std::abort();
  return 0;
}
