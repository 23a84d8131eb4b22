// SPDX-License-Identifier: Apache-2.0
// Which PMU counts hardware events on which CPU.
#pragma once

#include <cstdint>
#include <map>

namespace keplerd {
class HostRoot;
}

namespace keplerd::perf {

using Pmus = std::map<int, std::uint32_t>;

// By CPU: the type of its PMU, on a host on which kinds of cores have PMUs of their own, such as the cpu_core
// and cpu_atom of Intel's hybrid processors (/sys/bus/event_source/devices/NAME/{cpus,type}). Empty on all
// others.
Pmus pmus_of_cpus(const HostRoot& host);

}  // namespace keplerd::perf
