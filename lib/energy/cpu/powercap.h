// SPDX-License-Identifier: Apache-2.0
// The energy counters of the kernel's powercap class (RAPL): /sys/class/powercap/*/energy_uj.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "energy/energy_source.h"

namespace keplerd {

class HostRoot;

// The source, with the zones that `names` choose (see is_chosen). Fails where there are none (ENOENT), where
// their counters may not be read (EACCES, EPERM), and where nothing chosen counts into the total. A zone that
// merely fails to be read is kept: its readings tell the error until it recovers. Independent of `host`'s
// life.
Result<std::unique_ptr<EnergySource>> open_powercap(const HostRoot& host,
                                                    const std::vector<std::string>& names);

// Where the form of that class lies.
struct PowercapTree {
  UniqueFd root;      // the source's own
  std::string shown;  // its path, for errors; "" for "/"
  std::string path;   // of the directory of the zones, below it: "class/powercap"
};

// The same of a tree that somebody else than the kernel writes.
Result<std::unique_ptr<EnergySource>> open_powercap_tree(PowercapTree tree,
                                                         const std::vector<std::string>& names);

// The directories of the class that are no zones of the source.
std::vector<LeftOut> powercap_left_out(const HostRoot& host);

// What an administrator can do about a failure of open_powercap(); may be empty.
std::string powercap_fix(const HostRoot& host, const Error& error);

}  // namespace keplerd
