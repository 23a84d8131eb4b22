// SPDX-License-Identifier: Apache-2.0
// A mount that is found is part of the text: its path is not empty and no longer than the text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "host/host_root.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto place = keplerd::find_cgroup2(text);
  if (place && (place->empty() || place->size() > text.size())) std::abort();
  if (place && text.find("cgroup2") == std::string_view::npos) std::abort();
  return 0;
}
