// SPDX-License-Identifier: Apache-2.0
// The JSON value's name alone, for headers that only pass it on: the whole of it takes seconds to compile.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace keplerd::varlink {

// Fields keep the order in which they were set.
using Json = nlohmann::ordered_json;

}  // namespace keplerd::varlink
