// SPDX-License-Identifier: Apache-2.0
// The use of devices in a trace: of cgroups, and of processes outside any.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/value.h"
#include "usage/usage_sample.h"

namespace keplerd {

// The items of the list "devices". `quoted`: a cgroup's path as the trace has it.
std::string traced_devices(const UsageSample& usage,
                           const std::function<std::string(std::string_view path)>& quoted);

// Sets the devices of `usage`, whose groups and processes are those of this sample, from its line.
Result<Done> take_devices(const TraceValue& sample, UsageSample& usage);

}  // namespace keplerd
