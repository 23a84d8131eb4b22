// SPDX-License-Identifier: Apache-2.0
// The result of probing a meter that a host may have.
#pragma once

#include <string>
#include <vector>

namespace keplerd {

// One candidate and its result, as `doctor` shows it.
struct SourceProbe {
  std::string name;
  bool usable = false;
  std::string reason;              // why it is not usable; empty if it is
  std::string fix;                 // a command or a setting that fixes it; may be empty
  std::vector<std::string> zones;  // ids, if it could be opened
};
using SourceProbes = std::vector<SourceProbe>;

}  // namespace keplerd
