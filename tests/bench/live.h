// SPDX-License-Identifier: Apache-2.0
// What a process or thread of the load does with its life.
#pragma once

#include <ctime>

#include <unistd.h>

inline long now_nsec() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

// Computes for some 20 us twice a second, if it is active, else sleeps. `number`: so that not all do it at
// the same time.
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
