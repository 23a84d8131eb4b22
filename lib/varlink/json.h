// SPDX-License-Identifier: Apache-2.0
// The JSON value of varlink messages; fields keep the order in which they were set.
#pragma once

#include <nlohmann/json.hpp>

namespace keplerd::varlink {

using Json = nlohmann::ordered_json;

}  // namespace keplerd::varlink
