// SPDX-License-Identifier: Apache-2.0
// Energy that a workload, a user or the host should not exceed in an hour, day or month: Budget= in
// history.conf (keplerd-history(8)). Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "history/span.h"

namespace keplerd::history {

enum class BudgetScope { kHost, kVm, kContainer, kPod, kUnit, kSlice, kUser };

struct Budget {
  std::string text;  // as it is configured; the crossings in the database refer to it
  Microjoules limit;
  Step period{};  // not five minutes
  BudgetScope scope{};
  std::string name;  // an id or a name; of a user, the login or the user id; empty: the host

  // "vm web 1": what its service is named after.
  std::string subject() const;
};

// "2kWh/day vm web 1": the name is the rest of the text, with any spaces and slashes in it. An error's
// message says what is expected.
Result<Budget> parse_budget(std::string_view text);

// The smallest energy that is `percent` of the limit or more; `percent` is at most 100.
Microjoules part_of_limit(const Budget& budget, int percent);

}  // namespace keplerd::history
