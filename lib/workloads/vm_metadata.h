// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>

namespace keplerd {

// Dotted keys ("openstack.project"), escaped values.
using VmMetadata = std::map<std::string, std::string, std::less<>>;

}  // namespace keplerd
