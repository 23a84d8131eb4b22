// SPDX-License-Identifier: Apache-2.0
// What the hardware counts of groups, in a trace.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/value.h"
#include "usage/usage_sample.h"

namespace keplerd {

// The members of a sample's line, such as "memories":[...]; empty if there are none. `quoted`: a cgroup's
// path as the trace has it.
std::string traced_counts(const UsageSample& usage,
                          const std::function<std::string(std::string_view path)>& quoted);

// Sets the counts of `usage`, whose groups are those of this sample, from its line.
Result<Done> take_counts(const TraceValue& sample, UsageSample& usage);

}  // namespace keplerd
