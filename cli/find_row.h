// SPDX-License-Identifier: Apache-2.0
// Finds a row by what people type: a PID, a name in any case, or the start of an id. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "varlink/json.h"

namespace keplerd::cli {

// The matches of the first of these rules that has any: the process with this PID; with `guess`, also a name
// that differs in case only, or an id that starts so. If exactly one of several runs, it is that one. Empty:
// none.
std::vector<varlink::Json> find_rows(const std::vector<varlink::Json>& rows, std::string_view wanted,
                                     bool guess);

}  // namespace keplerd::cli
