// SPDX-License-Identifier: Apache-2.0
// Whatever kubelet's directories and Proxmox's files are called and hold, a name that is told is printable
// and not long.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/text.h"
#include "workloads/identifier.h"
#include "workloads/name_files.h"

namespace {

void check(std::string name) {
  if (name.empty() || name.size() > 4 * 255) std::abort();
  std::erase(name, '\\');  // our own escapes, of which escape_name would escape some again
  if (!keplerd::is_plain_name(name)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto pod = keplerd::parse_pod_directory(text)) {
    if (!text.ends_with("_" + pod->first)) std::abort();
    check(pod->second.name);
    check(pod->second.name_space);
  }
  if (const auto container = keplerd::parse_container_log(text)) {
    if (!keplerd::is_runtime_id(container->first)) std::abort();
    if (!text.ends_with("-" + container->first + ".log")) std::abort();
    check(container->second);
  }
  for (const char* key : {"name", "hostname"}) {
    if (const auto name = keplerd::parse_proxmox_value(text, key)) check(*name);
  }
  return 0;
}
