// SPDX-License-Identifier: Apache-2.0
// The traffic of memories in a trace.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/value.h"
#include "usage/usage_sample.h"

namespace keplerd {

// The items of the list "memories". `quoted`: a cgroup's path as the trace has it.
std::string traced_traffic(const UsageSample& usage,
                           const std::function<std::string(std::string_view path)>& quoted);

// Sets the traffic of `usage`, whose groups are those of this sample, from its line.
Result<Done> take_traffic(const TraceValue& sample, UsageSample& usage);

}  // namespace keplerd
