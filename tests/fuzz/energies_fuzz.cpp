// SPDX-License-Identifier: Apache-2.0
// Packed energies of a span, of a database that may be damaged.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "history/store/energies.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace keplerd::history;
  Energies energies;
  try {
    for (Unpacker unpacker({reinterpret_cast<const char*>(data), size}); !unpacker.is_at_end();) {
      const auto [workload, amounts] = unpacker.next();
      if (amounts.active.value < 0 || amounts.idle.value < 0) std::abort();
      if (!energies.try_emplace(workload, amounts).second) std::abort();
    }
  } catch (const DatabaseError&) {
    return 0;
  }
  Energies again;
  const std::string packed = pack(energies);
  add_packed(again, packed);
  if (again != energies) std::abort();
  return 0;
}
