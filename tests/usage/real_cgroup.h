// SPDX-License-Identifier: Apache-2.0
// A directory of this host's own cgroup2, for tests of what only the kernel shows.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace keplerd {

class RealCgroup {
 public:
  // A new directory, below the root of cgroup2. Null, with the reason in `why_not`, where this user cannot
  // make one.
  static std::unique_ptr<RealCgroup> make(std::string& why_not);

  // With all in it. No process may be left there.
  ~RealCgroup();
  RealCgroup(const RealCgroup&) = delete;
  RealCgroup& operator=(const RealCgroup&) = delete;

  const std::string& path() const { return path_; }
  int directory() const { return fd_.get(); }

  // `name` is relative: "a/b". All fail the running test where they fail, and tell it.
  bool add(const std::string& name) const;
  bool remove(const std::string& name) const;  // an empty group
  bool write(const std::string& file, std::string_view text) const;
  bool move(int pid, const std::string& group) const;  // "": into this one
  bool move_out(int pid) const;                        // back to where the test runs

 private:
  RealCgroup(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  UniqueFd fd_;
};

// Of this process: open descriptors, and inotify watches over all of them.
std::size_t open_descriptors();
std::size_t inotify_watches();
// Of the open ones, those that are files of this process.
std::size_t open_descriptors_of(int pid);

}  // namespace keplerd
