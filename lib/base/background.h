// SPDX-License-Identifier: Apache-2.0
// Runs work that may hang (on a disk, a bus or a FUSE file system) in a thread, off the event loop.
#pragma once

#include <functional>

#include "base/result.h"

namespace keplerd {

class Background {
 public:
  virtual ~Background() = default;

  // True from start() until `done` is called.
  virtual bool is_busy() const = 0;

  // Calls `work` in a thread and then, even if `work` threw, `done` on the event loop. `work` may outlive
  // this object and the caller, so it must own everything it uses; `done` is not called once this object has
  // been destroyed. Must not be called while busy. Fails if no thread can be created; then neither is called.
  virtual Result<Done> start(std::function<void()> work, std::function<void()> done) = 0;
};

}  // namespace keplerd
