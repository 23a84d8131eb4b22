// SPDX-License-Identifier: Apache-2.0
// Lists of CPUs, as the kernel writes them (Documentation/admin-guide/cputopology.rst).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace keplerd {

// Parses "0-3,8" into {0, 1, 2, 3, 8}: sorted, each once. An empty list is valid;
// nothing if it is malformed, or names CPUs above 65535.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

}  // namespace keplerd
