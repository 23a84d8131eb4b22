// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>

#include <sys/resource.h>

namespace keplerd {

// While it exists, this process can open nothing more.
class NoDescriptors {
 public:
  NoDescriptors() {
    if (::getrlimit(RLIMIT_NOFILE, &limit_) != 0) std::abort();
    const rlimit none{.rlim_cur = 3, .rlim_max = limit_.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &none) != 0) std::abort();
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &limit_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit limit_{};
};

}  // namespace keplerd
