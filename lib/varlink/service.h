// SPDX-License-Identifier: Apache-2.0
// org.varlink.service (https://varlink.org/Service), the interface that every varlink service provides.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "varlink/server.h"

namespace keplerd::varlink {

using Interfaces = std::map<std::string, Interface, std::less<>>;  // by name

Failure interface_not_found(std::string_view interface);
Failure method_not_found(std::string_view method);
Failure method_not_implemented(std::string_view method);

// It describes `interfaces`, which must outlive it and may include it.
Interface service_interface(ServiceInfo info, const Interfaces& interfaces);

}  // namespace keplerd::varlink
