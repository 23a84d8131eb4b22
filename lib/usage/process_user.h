// SPDX-License-Identifier: Apache-2.0
// Whose a process is, as /proc shows it.
#pragma once

#include <cstdint>
#include <optional>

namespace keplerd {

class HostRoot;

class ProcessUser {
 public:
  // Reads who owns /proc/PID. One that hides from its user (setuid, not dumpable) has a directory of root's:
  // only there the status, which costs ten times as much, is read too, and not again as long as the owner
  // stays and the program is not `renamed`. True where the user is another than before.
  bool refresh(const HostRoot& host, std::int32_t pid, bool renamed);

  // As ProcessUsage has them.
  std::optional<std::uint32_t> effective() const { return effective_; }
  std::optional<std::uint32_t> real() const { return real_; }

 private:
  std::uint32_t owner_ = 0;  // of the directory
  std::optional<std::uint32_t> effective_, real_;
};

}  // namespace keplerd
