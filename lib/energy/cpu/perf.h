// SPDX-License-Identifier: Apache-2.0
// The energy counters of the kernel's PMU `power` (RAPL through perf): 64 bits wide, so they do not wrap. The
// PMU `power_core` (AMD) counts single cores and is no meter of the host.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "energy/cpu/perf_counter.h"
#include "energy/energy_source.h"

namespace keplerd {

class HostRoot;

// The source, with the zones that `names` choose (see is_chosen); one event a zone and CPU of the PMU's
// cpumask. Fails where there is no such PMU or it has no events (ENOENT), where they may not be counted
// (EACCES, EPERM), and where nothing chosen counts into the total. An event that is lost (its package goes
// offline) is opened anew, on another CPU of its package where the cpumask says so; its counter then begins
// at 0 again. `open`: nothing for the kernel's, which needs the kernel's own sysfs: the PMU's number is valid
// for no other.
Result<std::unique_ptr<EnergySource>> open_perf(const HostRoot& host, const std::vector<std::string>& names,
                                                OpenPerfCounter open = {});

// PMUs that count energy and are no zones of the source.
std::vector<LeftOut> perf_left_out(const HostRoot& host);

// What an administrator can do about a failure of open_perf(); may be empty.
std::string perf_fix(const HostRoot& host, const Error& error);

}  // namespace keplerd
