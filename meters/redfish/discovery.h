// SPDX-License-Identifier: Apache-2.0
// Finds the chassis of this host and how their power is read. Pure: documents come from a function.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "meters/redfish/documents.h"

namespace keplerd::redfish {

// The text of a document of the service. Errors: code ENOENT if there is no such document, EACCES if the
// service refuses the user.
using Fetch = std::function<Result<std::string>(const std::string& path)>;

enum class PowerKind { kEnvironment, kControl, kSensor, kSupplies };

// Where a power is read: one document, or those of all power supplies, which add up.
struct PowerSource {
  PowerKind kind{};
  std::vector<std::string> paths;
};

struct PoweredChassis {
  std::string id;
  PowerSource source;
};

// The chassis that make up the host: `chosen`, by their ids; or, if that is empty, those with a power reading
// that are not inside another one and are not parts of a computer. Each of them is measured once.
//
// Fails if there are none, if a document cannot be read, or if the service manages several computer systems
// and `chosen` is empty: their power would be taken for this host's.
Result<std::vector<PoweredChassis>> find_chassis(const Fetch& fetch, const std::vector<std::string>& chosen);

// Unset: the service has no value at this moment.
Result<Power> read_power(const Fetch& fetch, const PowerSource& source);

}  // namespace keplerd::redfish
