// SPDX-License-Identifier: Apache-2.0
// Screens as exact text; see golden_test.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "varlink/json_fwd.h"

namespace keplerd::cli {

struct Look {
  int width;
  bool unicode, colour;
};

struct Golden {
  std::string name;  // of the file, without its ending
  std::function<std::string(const Look&)> screen;
};

// A file in tests/cli/golden.
std::string read_golden(const std::string& name);

// The results of `run`, `history` and `report`.
std::vector<Golden> golden_results();
// Several hosts.
std::vector<Golden> golden_hosts();

}  // namespace keplerd::cli
