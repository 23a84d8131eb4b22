// SPDX-License-Identifier: Apache-2.0
// The processor's fields in /proc/cpuinfo (proc_cpuinfo(5)): those of the first logical CPU, which stands for
// all.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace keplerd {

class HostRoot;

// The beginning of the file, with at least the section of the first CPU; empty if it cannot be read.
std::string read_cpuinfo(const HostRoot& host);

// The value of a field in the first section of `cpuinfo`: of "vendor_id", for example. Unset if the section
// does not have it; an empty text if it has no value.
std::optional<std::string_view> cpuinfo_field(std::string_view cpuinfo, std::string_view name);

// Whether a vendor_id is that of AMD, or of Hygon, whose processors are derived from AMD's.
bool is_amd(std::string_view vendor);

}  // namespace keplerd
