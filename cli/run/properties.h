// SPDX-License-Identifier: Apache-2.0
// Properties of a scope as systemd-run(1) takes them, and as the manager does on D-Bus. Pure. Source:
// systemd.resource-control(5), systemd.scope(5), org.freedesktop.systemd1(5).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace keplerd::cli::run {

using Bytes = std::vector<std::uint8_t>;

struct Property {
  std::string name;                                                                          // on D-Bus
  std::variant<bool, std::int32_t, std::uint32_t, std::uint64_t, std::string, Bytes> value;  // b i u t s ay
};

// "MemoryMax=1G", "CPUQuota=50%". An error: unknown, or not a value of this property.
Result<Property> parse_property(std::string_view text);

}  // namespace keplerd::cli::run
