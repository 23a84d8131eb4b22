// SPDX-License-Identifier: Apache-2.0
// What was found out about a meter that a host may have.
#pragma once

#include <string>
#include <vector>

namespace keplerd {

// One candidate, tried: what `doctor` tells.
struct SourceProbe {
  std::string name;
  bool usable = false;
  std::string reason;              // why it is not usable; empty where it is
  std::string fix;                 // a command or a setting against that; may be empty
  std::vector<std::string> zones;  // ids, where it could be opened
};
using SourceProbes = std::vector<SourceProbe>;

}  // namespace keplerd
