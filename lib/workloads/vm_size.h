// SPDX-License-Identifier: Apache-2.0
// How large a virtual machine is, as its definition or its hypervisor's command line says.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace keplerd {

struct VmSize {
  std::optional<int> vcpus;            // 1 to kMostVcpus
  std::optional<std::int64_t> memory;  // bytes, more than 0

  bool operator==(const VmSize&) const = default;
};

inline constexpr int kMostVcpus = 65'536;

// A number of vCPUs; unset if it is none, or out of range.
std::optional<int> parse_vcpus(std::string_view text);

// An amount of memory: "2048", in units of `unit` bytes, or with a suffix, of which the first letter counts:
// "2048M", "2GiB", "1048576k". Unset if it is none, or 2^60 bytes and more.
std::optional<std::int64_t> parse_vm_memory(std::string_view text, std::int64_t unit);

}  // namespace keplerd
