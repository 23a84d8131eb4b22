// SPDX-License-Identifier: Apache-2.0
// Budget= of history.conf, and the name and the environment of its service.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "history/budget/unit_name.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace keplerd::history;
  const auto budget = parse_budget({reinterpret_cast<const char*>(data), size});
  if (!budget) return 0;
  if (budget->limit.value <= 0 || part_of_limit(*budget, 80) > budget->limit) std::abort();
  constexpr std::string_view kAllowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:_.\\-@";
  if (budget_service(*budget).find_first_not_of(kAllowed) != std::string::npos) std::abort();
  (void)budget_environment({*budget, {}, {}, ""}, 80);
  return 0;
}
