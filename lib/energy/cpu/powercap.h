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

// Opens the source, with the zones that `names` choose (see is_chosen). Fails if there are none (ENOENT), if
// their counters may not be read (EACCES, EPERM), or if no chosen zone counts into the total. A zone whose
// reads merely fail is kept: its readings carry the error until it recovers. Does not depend on the lifetime
// of `host`.
Result<std::unique_ptr<EnergySource>> open_powercap(const HostRoot& host,
                                                    const std::vector<std::string>& names);

// The location of a directory tree with the layout of that class.
struct PowercapTree {
  UniqueFd root;      // the source's own
  std::string shown;  // its path, for errors; "" for "/"
  std::string path;   // path of the zones' directory below it: "class/powercap"
};

// The same for a tree that is not written by the kernel.
Result<std::unique_ptr<EnergySource>> open_powercap_tree(PowercapTree tree,
                                                         const std::vector<std::string>& names);

// The directories of the class that are not zones of the source.
std::vector<LeftOut> powercap_left_out(const HostRoot& host);

// How an administrator can fix a failure of open_powercap(); may be empty.
std::string powercap_fix(const HostRoot& host, const Error& error);

}  // namespace keplerd
