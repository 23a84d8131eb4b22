// SPDX-License-Identifier: Apache-2.0
// The life of a process or thread of the load.
#pragma once

#include <ctime>

#include <unistd.h>

inline long now_nsec() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

// If it is active, computes for some 20 us twice a second, else sleeps. `number` staggers the times at which
// they do.
[[noreturn]] inline void live(bool active, long number) {
  constexpr long kPause = 500'000'000, kWork = 20'000;  // ns
  timespec pause{0, 1 + number * 7'919'000 % kPause};
  while (true) {
    if (!active) ::pause();
    ::nanosleep(&pause, nullptr);
    pause.tv_nsec = kPause;
    for (const long end = now_nsec() + kWork; now_nsec() < end;) {
    }
  }
}
