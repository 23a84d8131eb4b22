// SPDX-License-Identifier: Apache-2.0
// Whatever the names and contents of kubelet's directories and Proxmox's files, resulting names are printable
// and bounded.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "fuzz/shown_text.h"
#include "workloads/identifier.h"
#include "workloads/name_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto pod = keplerd::parse_pod_directory(text)) {
    if (!text.ends_with("_" + pod->first)) std::abort();
    keplerd::check_name(pod->second.name);
    keplerd::check_name(pod->second.name_space);
  }
  if (const auto container = keplerd::parse_container_log(text)) {
    if (!keplerd::is_runtime_id(container->first)) std::abort();
    if (!text.ends_with("-" + container->first + ".log")) std::abort();
    keplerd::check_name(container->second);
  }
  for (const char* key : {"name", "hostname"}) {
    if (const auto name = keplerd::parse_proxmox_value(text, key)) keplerd::check_name(*name);
  }
  return 0;
}
