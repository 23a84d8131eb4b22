// SPDX-License-Identifier: Apache-2.0
// The state directory, used by one daemon exclusively.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace keplerd {

struct StateDirectory {
  std::string path;
  // Holds the lock: flock(2) on the directory itself, so that no lock file is left behind. Everything that
  // writes into the directory keeps a copy, including a save that outlives the loop. Null: not locked.
  std::shared_ptr<const UniqueFd> lock;
};

// Creates the directory if it is missing; its parent must exist. Fails if another process has locked it.
// `warning` is called if it cannot be created, opened or locked for another reason: it is then used unlocked,
// and saving will report its own failures.
Result<StateDirectory> lock_state_directory(const std::string& path,
                                            void (*warning)(const std::string& message));

}  // namespace keplerd
