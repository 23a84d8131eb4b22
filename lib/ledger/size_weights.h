// SPDX-License-Identifier: Apache-2.0
// How much of the host each workload may use: for each of CPU and memory, the smallest of its own limit and
// of those of the groups above it, divided by what the host has, and of these two the mean; of only one if
// only that is limited. A workload without any limit has 0. Pure.
//
// Workloads in a group that has a limit have no more than this limit together: a customer who divides what
// was sold among many workloads does not pay for more. What ordinary users state themselves, in limits that
// they set and in command lines, is a claim: the claims of a user count for no more than the host, and those
// of all users for no more than what the other workloads leave. So a claim can reduce only the shares of
// other claims.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "usage/usage_sample.h"
#include "workloads/owner.h"
#include "workloads/vm_size.h"

namespace keplerd {

struct SizedWorkload {
  std::size_t group = kNoGroup;  // that it is, or in which it is; kNoGroup: outside any
  VmSize size;                   // its own, in addition to the limits of the group
  std::optional<Uid> claimant;   // the user whose claim its size is; unset: none's
};

// The part of the host that each has; their sum is at most 1.
std::vector<double> size_weights(const UsageSample& usage, std::span<const SizedWorkload> workloads);

}  // namespace keplerd
