// SPDX-License-Identifier: Apache-2.0
// Divides a recorded trace under several rules, side by side. The truth is not known: what is shown is how
// far the rules are from each other.
#pragma once

#include <string>

namespace keplerd::accuracy {

// Prints a table. Returns the exit status: 1 if the trace cannot be read.
int compare_on_trace(const std::string& path);

}  // namespace keplerd::accuracy
