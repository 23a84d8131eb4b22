// SPDX-License-Identifier: Apache-2.0
// A child process that executes commands step by step: each call returns when it is done.
#pragma once

#include <chrono>
#include <string>

#include <sys/types.h>

#include "base/unique_fd.h"

namespace keplerd {

class Child {
 public:
  Child() : Child(0) {}
  // With this pid, which must be unused (0: any). pid() is -1 if the kernel does not permit that.
  explicit Child(pid_t wanted);
  ~Child();  // killed and reaped
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }

  void burn(std::chrono::milliseconds time);           // CPU time, at least
  void burn_in_child(std::chrono::milliseconds time);  // a child of its own, which ends and is reaped
  void rename(const std::string& comm);                // at most 15 bytes
  void become_cat();                                   // exec: accepts no further commands
  void end();                                          // it stays a zombie until reap()
  void reap();

 private:
  void report(char what, const std::string& argument);

  pid_t pid_ = -1;
  UniqueFd wire_;
};

}  // namespace keplerd
