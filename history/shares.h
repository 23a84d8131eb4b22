// SPDX-License-Identifier: Apache-2.0
// Divides the energy of a span among what people ask for: units, slices, users, virtual machines, their
// projects, containers or pods. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "history/reading.h"
#include "history/store/query.h"

namespace keplerd::history {

enum class By { kUnit, kSlice, kUser, kVm, kContainer, kPod, kProject };
std::string_view name_of(By by);  // "unit", "slice", ...
std::optional<By> parse_by(std::string_view name);

Kind kind_of(By by);  // the workloads that it is computed from

struct Share {
  std::string id;  // of users: the user id
  std::string name;
  std::optional<uid_t> owner;
  Amounts amounts;
  Rated rated = {};
};

// In the order of their energy, highest first. `workloads`: with what is nested in them, as energy_of() has
// them. Nothing is in two of the shares, so their sum is what these workloads drew together.
std::vector<Share> shares_of(By by, const std::vector<WorkloadEnergy>& workloads);

}  // namespace keplerd::history
