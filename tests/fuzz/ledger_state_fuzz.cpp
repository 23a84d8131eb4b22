// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ledger/ledger.h"
#include "ledger/state.h"

// Any accepted state can be continued from, and is written and read back unchanged.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto state = keplerd::parse_state({reinterpret_cast<const char*>(data), size});
  if (!state) return 0;
  const std::string text = keplerd::format_state(*state);
  const auto again = keplerd::parse_state(text);
  if (!again || keplerd::format_state(*again) != text) std::abort();
  const keplerd::Ledger ledger(*state, "instance");
  const auto report = ledger.report();
  if (report->host.energy != report->host.active + report->host.idle) std::abort();
  return 0;
}
