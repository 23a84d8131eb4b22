// SPDX-License-Identifier: Apache-2.0
// How many groups of resctrl the hardware can count for.
#pragma once

#include <cstddef>
#include <optional>

namespace keplerd {
class HostRoot;
}

namespace keplerd::resctrl {

// The default group is one of them. Unset if the kernel does not say it.
std::optional<std::size_t> most_groups(const HostRoot& host);

}  // namespace keplerd::resctrl
