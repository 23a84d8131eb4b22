// SPDX-License-Identifier: Apache-2.0
// Whatever JSON docker's and podman's files contain, names are printable and bounded, and there are no more
// of podman's than requested.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "fuzz/shown_text.h"
#include "workloads/identifier.h"
#include "workloads/name_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr std::size_t kMost = 3;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto name = keplerd::parse_docker_name(text)) keplerd::check_name(*name);
  const auto names = keplerd::parse_podman_names(text, kMost);
  if (names.size() > kMost) std::abort();
  for (const auto& [id, name] : names) {
    if (!keplerd::is_runtime_id(id)) std::abort();
    keplerd::check_name(name);
  }
  return 0;
}
