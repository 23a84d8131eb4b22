// SPDX-License-Identifier: Apache-2.0
// The state directory, which one daemon has for itself.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace keplerd {

struct StateDirectory {
  std::string path;
  // Holds the lock: flock(2) on the directory itself, so that nothing is left behind in it. Whoever may write
  // into the directory keeps a copy, also a save that outlives the loop. Null: it is not locked.
  std::shared_ptr<const UniqueFd> lock;
};

// Creates the directory where it is missing; its parent must exist. Fails if another process has locked it.
// `warning` is called where it cannot be created, opened or locked for another reason: that costs the lock,
// and saving will say for itself what it cannot do.
Result<StateDirectory> lock_state_directory(const std::string& path,
                                            void (*warning)(const std::string& message));

}  // namespace keplerd
