// SPDX-License-Identifier: Apache-2.0
#include "host/descriptor_budget.h"

#include <sys/resource.h>

namespace keplerd {
namespace {

constexpr std::size_t kReserve = 1024;  // twice the varlink server's connections

}  // namespace

std::size_t descriptors_to_hold(std::size_t limit) {
  return limit > 2 * kReserve ? limit - kReserve : limit / 2;
}

std::size_t descriptors_to_hold() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return descriptors_to_hold(limit.rlim_cur);
}

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace keplerd
