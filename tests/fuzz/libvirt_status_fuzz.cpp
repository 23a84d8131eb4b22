// SPDX-License-Identifier: Apache-2.0
// Whatever libvirt's status contains, the result is printable and bounded in length and number.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "fuzz/shown_text.h"
#include "workloads/identifier.h"
#include "workloads/libvirt_status.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto status = keplerd::parse_libvirt_status({reinterpret_cast<const char*>(data), size});
  if (!status) return 0;
  if (keplerd::canonical_uuid(status->uuid) != status->uuid || status->uuid.empty()) std::abort();
  if (status->pid <= 0 || status->metadata.size() > 8 || status->vcpu_threads.size() > 4096) std::abort();
  for (const std::string& text : {status->name, status->title, status->state, status->reason})
    keplerd::check_shown(text);
  for (const auto& [key, value] : status->metadata) keplerd::check_shown(value);
  return 0;
}
