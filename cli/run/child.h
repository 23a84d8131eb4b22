// SPDX-License-Identifier: Apache-2.0
// The process of a command, and one that keeps its scope until the last sample. Both exist before the
// scope does, and wait: what they do in it is counted from the beginning.
#pragma once

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "base/unique_fd.h"

namespace keplerd::cli::run {

// SIGPIPE was ignored when keplerctl was started: it is ignored in the command, too.
void keep_ignoring_sigpipe();

// While this exists, signals are read from fd() instead of ending keplerctl: those for the command are passed
// on, and those of a terminal it has got itself.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int fd() const { return fd_.get(); }

  // Waits until `fd` (unless -1) is readable or a signal comes, at most for `longest`. Returns whether a
  // signal asks for an end; none is passed on.
  bool wait_for(int fd, std::chrono::milliseconds longest);

  // Reads all that have come, and passes on to `command` (unless 0) what it has not got itself. Returns
  // whether one of them asks for an end: SIGINT, SIGQUIT, SIGTERM or SIGHUP.
  bool take(pid_t command);

  // In a child: signals are as keplerctl found them.
  void restore() const;

 private:
  UniqueFd fd_;
  sigset_t mask_{};
  struct sigaction child_action_ {};
};

struct Ended {
  int status = 0;  // as a shell has it: 128 + N after signal N
  bool by_signal = false;
  std::chrono::microseconds cpu{0};  // of it, and of the children that it has waited for
};

class Child {
 public:
  // A process that waits for start(). `signals` are restored in it.
  static Result<Child> make(const std::vector<std::string>& command, const Signals& signals);
  Child(Child&&) = default;

  pid_t pid() const { return pid_; }

  // Lets it become the command. An error if it cannot; its code decides between 126 and 127. Waits until
  // then.
  Result<Done> start();

  // Nothing while it runs.
  std::optional<Ended> poll_end();

 private:
  Child(pid_t pid, std::string command, UniqueFd gate, UniqueFd failure)
      : pid_(pid), command_(std::move(command)), gate_(std::move(gate)), failure_(std::move(failure)) {}

  pid_t pid_;
  std::string command_;
  UniqueFd gate_;     // it waits for a byte
  UniqueFd failure_;  // it sends errno
};

// 127: there is no such command; 126: it cannot be executed.
int status_of_failed_start(int code);

// A process that does nothing until this is destroyed.
class Holder {
 public:
  static Result<Holder> make();
  Holder(Holder&& other) noexcept;
  Holder& operator=(Holder&&) = delete;
  ~Holder();

  pid_t pid() const { return pid_; }

 private:
  Holder(pid_t pid, UniqueFd gate) : pid_(pid), gate_(std::move(gate)) {}

  pid_t pid_;
  UniqueFd gate_;
};

}  // namespace keplerd::cli::run
