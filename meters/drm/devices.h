// SPDX-License-Identifier: Apache-2.0
// The graphics cards of the host, from /sys.
#pragma once

#include <map>
#include <string>

namespace keplerd {
class HostRoot;
}

namespace keplerd::drm {

// The cards with a driver for them, by PCI address: its name ("amdgpu").
std::map<std::string, std::string> find_cards(const HostRoot& host);

// Whether the PCI device is a graphics card.
bool is_graphics(const HostRoot& host, const std::string& address);

// Whether a process computes on AMD's cards by /dev/kfd (ROCm), which is not a client's use.
bool is_kfd_used(const HostRoot& host);

}  // namespace keplerd::drm
