// SPDX-License-Identifier: Apache-2.0
// The processor's fields in /proc/cpuinfo (proc_cpuinfo(5)): those of its first logical CPU, since all CPUs
// of a host are of one kind.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace keplerd {

class HostRoot;

// The section of the first CPU, as text; empty if it cannot be read.
std::string read_cpuinfo(const HostRoot& host);

// The value of a field of the first section of `cpuinfo`: of "vendor_id", for example. Empty: without a
// value.
std::optional<std::string_view> cpuinfo_field(std::string_view cpuinfo, std::string_view name);

// Whether a vendor_id is that of AMD, or of Hygon, which builds AMD's processors.
bool is_amd(std::string_view vendor);

}  // namespace keplerd
