// SPDX-License-Identifier: Apache-2.0
// A directory in this host's own cgroup2, for tests of kernel behaviour.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace keplerd {

class RealCgroup {
 public:
  // A new directory, below the root of cgroup2. Null, with the reason in `why_not`, if this user cannot
  // create one.
  static std::unique_ptr<RealCgroup> make(std::string& why_not);

  // With everything in it. It must contain no process.
  ~RealCgroup();
  RealCgroup(const RealCgroup&) = delete;
  RealCgroup& operator=(const RealCgroup&) = delete;

  const std::string& path() const { return path_; }
  int directory() const { return fd_.get(); }

  // `name` is relative: "a/b". All of these fail the running test on errors, and report them.
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

// For this process: open descriptors, and inotify watches over all of them.
std::size_t open_descriptors();
std::size_t inotify_watches();
// How many of the open descriptors are files of this process.
std::size_t open_descriptors_of(int pid);

}  // namespace keplerd
