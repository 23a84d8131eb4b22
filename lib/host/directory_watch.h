// SPDX-License-Identifier: Apache-2.0
// Reports entries that appear in or disappear from directories, and files that are modified (inotify(7)),
// without blocking.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace keplerd {

class DirectoryWatch {
 public:
  enum class Change { kCame, kWent, kModified };
  // Which are reported. kWrittenFiles: a file that was written and closed is reported as new, too.
  enum class Entries { kDirectories, kFiles, kWrittenFiles };

  // Does nothing if the kernel provides no inotify instance: add() then fails.
  explicit DirectoryWatch(Entries entries = Entries::kDirectories);

  // Watches the open directory `fd` from now on; the handle identifies it in drain(). Fails at the limits of
  // inotify(7).
  Result<int> add(int fd);
  // Watches the file `name` in that directory; its events have no name.
  Result<int> add_file(int fd, std::string_view name);
  void remove(int handle);

  // Calls `event` for each change since the last call, in order; a file that replaces another is reported as
  // new. Returns false if events were lost (or never watched), so that everything must be rescanned.
  using Event = std::function<void(int handle, Change, const std::string& name)>;
  bool drain(const Event& event);
  // The same for the first few hundred changes only.
  bool drain_some(const Event& event);

  // Readable while there are changes; -1 without an instance.
  int descriptor() const { return fd_ ? fd_.get() : -1; }

 private:
  struct Batch {
    std::size_t events = 0;
    bool lost = false;
  };
  Batch read_batch(const Event& event);
  Result<int> add_path(const std::string& path, std::uint32_t mask);

  UniqueFd fd_;
  Entries entries_;
};

}  // namespace keplerd
