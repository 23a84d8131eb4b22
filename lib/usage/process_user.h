// SPDX-License-Identifier: Apache-2.0
// The user of a process, according to /proc.
#pragma once

#include <cstdint>
#include <optional>

namespace keplerd {

class HostRoot;

class ProcessUser {
 public:
  // Reads the owner of /proc/PID. A process that is not dumpable (setuid, say) has a directory owned by root:
  // only then its status is read too, which costs ten times as much, and not again as long as the owner stays
  // the same and the program is not `renamed`. Returns true if the user has changed.
  bool refresh(const HostRoot& host, std::int32_t pid, bool renamed);

  // As ProcessUsage has them.
  std::optional<std::uint32_t> effective() const { return effective_; }
  std::optional<std::uint32_t> real() const { return real_; }

 private:
  std::uint32_t owner_ = 0;  // of the directory
  std::optional<std::uint32_t> effective_, real_;
};

}  // namespace keplerd
