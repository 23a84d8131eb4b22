// SPDX-License-Identifier: Apache-2.0
// What one cgroup is, from its name and those above it. Each creator's form of names is one function.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "workloads/cgroup_workload.h"

namespace keplerd {

// What is known from the path above a cgroup.
struct AboveCgroup {
  std::string_view parent;
  std::string_view grandparent;
  bool in_ecs = false;
  bool in_nomad = false;
  std::string pod;           // that a container here is of
  bool pod_is_here = false;  // the parent is that pod
};

// Nothing where it is a unit, or just a group.
std::optional<CgroupWorkload> recognise_name(const AboveCgroup& above, std::string_view name);

}  // namespace keplerd
