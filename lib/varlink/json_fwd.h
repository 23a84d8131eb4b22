// SPDX-License-Identifier: Apache-2.0
// Forward declares the JSON type, for headers that only pass it on: the full type takes seconds to
// compile.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace keplerd::varlink {

// Fields keep their insertion order.
using Json = nlohmann::ordered_json;

}  // namespace keplerd::varlink
