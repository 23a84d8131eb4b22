// SPDX-License-Identifier: Apache-2.0
// The invariants of every report, by its rows alone, as any reader can check them.
#pragma once

#include "report/report.h"

namespace keplerd {

// Fails the running test unless, to the microjoule:
//   the host is its active and idle, its four accounts, and the zones in the total;
//   the units' own, the processes outside any unit and outside_other are accounts.workloads;
//   each unit is its own and its children, and its own is its other, its undivided and its processes;
//   each container or pod is its own and those inside it, and a container's own is its other, its undivided
//   and its processes; those that are in no other and outside_containers are accounts.workloads; each row is
//   its zones in the total;
// and everything that a row names is listed, and ids are unique.
void expect_sums(const ReportView& view);

// Fails the running test if a counter of `later` is less than the same one of `earlier`.
void expect_no_step_back(const ReportView& earlier, const ReportView& later);

}  // namespace keplerd
