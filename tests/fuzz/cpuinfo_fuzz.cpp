// SPDX-License-Identifier: Apache-2.0
// /proc/cpuinfo: each processor has a number, and no text extends beyond its line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "exporter/processors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const auto& processor :
       keplerd::exporter::parse_processors({reinterpret_cast<const char*>(data), size})) {
    if (processor.number.empty()) std::abort();
    for (const std::string& text : {processor.number, processor.vendor_id, processor.model_name}) {
      if (text.find('\n') != text.npos) std::abort();
    }
  }
  return 0;
}
