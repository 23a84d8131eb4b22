// SPDX-License-Identifier: Apache-2.0
// The energy counters of the kernel's PMU `power` (RAPL through perf): 64 bits wide, so they do not wrap. The
// PMU `power_core` (AMD) counts single cores and does not meter the host.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "energy/energy_source.h"
#include "host/perf_counter.h"

namespace keplerd {

class HostRoot;

// Opens the source, with the zones that `names` choose (see is_chosen); one event per zone and CPU of the
// PMU's cpumask. Fails if there is no such PMU or it has no events (ENOENT), if they may not be counted
// (EACCES, EPERM), or if no chosen zone counts into the total. An event that is lost (its package goes
// offline) is reopened, on another CPU of its package if the cpumask says so; its counter then restarts at 0.
// `open`: empty for the kernel's own, which requires the kernel's own sysfs, since the PMU's number is only
// valid there.
Result<std::unique_ptr<EnergySource>> open_perf(const HostRoot& host, const std::vector<std::string>& names,
                                                OpenPerfCounter open = {});

// PMUs that count energy but are not zones of the source.
std::vector<LeftOut> perf_left_out(const HostRoot& host);

// How an administrator can fix a failure of open_perf(); may be empty.
std::string perf_fix(const HostRoot& host, const Error& error);

}  // namespace keplerd
