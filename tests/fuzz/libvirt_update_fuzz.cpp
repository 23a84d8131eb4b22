// SPDX-License-Identifier: Apache-2.0
// Whatever line keplerd-libvirt sends, the result is printable and bounded.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "daemon/libvirt/update.h"
#include "fuzz/shown_text.h"
#include "workloads/identifier.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto notice = keplerd::parse_update({reinterpret_cast<const char*>(data), size});
  if (!notice || notice->kind == keplerd::LibvirtUpdate::Kind::kAlive) return 0;
  if (notice->uuid.empty() || keplerd::canonical_uuid(notice->uuid) != notice->uuid) std::abort();
  for (const std::string& text : {notice->driver, notice->name, notice->title, notice->state, notice->reason})
    keplerd::check_shown(text);
  return 0;
}
