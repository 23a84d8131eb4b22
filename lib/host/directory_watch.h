// SPDX-License-Identifier: Apache-2.0
// Reports entries that appear in or disappear from directories (inotify(7)), without blocking.
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
  enum class Entries { kDirectories, kFiles };  // which are reported

  // Does nothing if the kernel provides no inotify instance: add() then fails.
  explicit DirectoryWatch(Entries entries = Entries::kDirectories);

  // Watches the open directory `fd` from now on; the handle identifies it in drain(). Fails at the limits of
  // inotify(7).
  Result<int> add(int fd);
  void remove(int handle);

  // Calls `event` for each change since the last call, in order; a file that replaces another is reported as
  // new. Returns false if events were lost (or never watched), so that everything must be rescanned.
  bool drain(const std::function<void(int handle, Change, const std::string& name)>& event);

 private:
  UniqueFd fd_;
  Entries entries_;
};

}  // namespace keplerd
