// SPDX-License-Identifier: Apache-2.0
// keplerd-drm [DIRECTORY [PROC [SYS]]]: publishes for how long processes use graphics cards. A process of its
// own, because the kernel shows this only to those who may trace all processes, which keplerd must not.
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>

#include "host/host_root.h"
#include "meters/drm/card_use.h"
#include "meters/usage_writer.h"

namespace {

keplerd::Nanoseconds read_clock(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + keplerd::Nanoseconds(time.tv_nsec);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace keplerd;
  const std::string directory = argc > 1 ? argv[1] : "/run/keplerd-usage/drm";
  const auto host =
      HostRoot::open({.sysfs = argc > 3 ? argv[3] : "/sys", .procfs = argc > 2 ? argv[2] : "/proc"});
  if (!host) {
    std::cerr << "keplerd-drm: " << host.error().message << '\n';
    return EXIT_FAILURE;
  }
  drm::CardUse use(*host);
  bool has_complained = false;
  timespec next{};
  ::clock_gettime(CLOCK_MONOTONIC, &next);
  while (true) {
    const auto written = meters::write_usage(directory, use.read(read_clock(CLOCK_BOOTTIME)));
    if (!written) {
      std::cerr << "keplerd-drm: " << written.error().message << '\n';
      return EXIT_FAILURE;
    }
    if (use.files().denied() > 0 && !has_complained) {
      has_complained = true;
      std::cerr << "keplerd-drm: the files of " << use.files().denied()
                << " processes cannot be read: their use of graphics cards is not counted (it needs "
                   "CAP_SYS_PTRACE)\n";
    }
    ++next.tv_sec;
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
  }
}
