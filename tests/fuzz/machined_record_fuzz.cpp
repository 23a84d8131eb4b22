// SPDX-License-Identifier: Apache-2.0
// An accepted machine has a name and a unit, both fit for display.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fuzz/shown_text.h"
#include "workloads/machined_records.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto record = keplerd::parse_machined_record({reinterpret_cast<const char*>(data), size});
  if (!record) return 0;
  keplerd::check_name(record->name);
  keplerd::check_name(record->unit);
  keplerd::check_shown(record->service);
  return 0;
}
