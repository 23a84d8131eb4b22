// SPDX-License-Identifier: Apache-2.0
#include "usage/process_user.h"

#include <array>
#include <string>
#include <utility>

#include "host/host_root.h"
#include "usage/process_stat.h"

namespace keplerd {
namespace {

constexpr std::uint32_t kRoot = 0;

}  // namespace

bool ProcessUser::refresh(const HostRoot& host, std::int32_t pid, bool renamed) {
  const std::string directory = std::to_string(pid);
  const auto owner = read_owner(host.procfs(), directory.c_str());
  if (!owner) return false;
  const bool known = effective_ && *owner == owner_ && !renamed;
  owner_ = *owner;
  if (known) return false;
  const auto before = std::exchange(effective_, *owner);
  const auto real_before = std::exchange(real_, std::nullopt);
  if (*owner == kRoot) {
    std::array<char, 512> buffer;
    const auto status = read_beginning(host.procfs(), (directory + "/status").c_str(), buffer);
    if (const auto users = status ? parse_process_users(*status) : std::nullopt) {
      effective_ = users->effective;
      if (users->real != users->effective) real_ = users->real;
    }
  }
  return effective_ != before || real_ != real_before;
}

}  // namespace keplerd
