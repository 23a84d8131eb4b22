// SPDX-License-Identifier: Apache-2.0
// Tells of what comes into and goes out of directories (inotify(7)), without blocking.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace keplerd {

class DirectoryWatch {
 public:
  enum class Change { kCame, kWent };
  enum class Entries { kDirectories, kFiles };  // which are told of

  // Does nothing where the kernel gives no inotify instance: add() then fails.
  explicit DirectoryWatch(Entries entries = Entries::kDirectories);

  // Watches the open directory `fd` from now on; the handle stands for it in drain(). Fails at the limits of
  // inotify(7).
  Result<int> add(int fd);
  void remove(int handle);

  // Calls `event` for each change since the last time, in their order; a file that replaces another comes.
  // False where some were lost (or never watched), so that everything must be looked up again.
  bool drain(const std::function<void(int handle, Change, const std::string& name)>& event);

 private:
  UniqueFd fd_;
  Entries entries_;
};

}  // namespace keplerd
