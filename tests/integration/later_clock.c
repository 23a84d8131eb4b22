// SPDX-License-Identifier: Apache-2.0
// Preloaded into a program, makes its monotonic clock run ahead by the nanoseconds in the file
// $LATER_CLOCK, which may change at any time.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static const volatile long long* ahead;

__attribute__((constructor)) static void map(void) {
  const char* path = getenv("LATER_CLOCK");
  const int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  void* const place = mmap(NULL, sizeof *ahead, PROT_READ, MAP_SHARED, fd, 0);
  if (place != MAP_FAILED) ahead = place;
  close(fd);
}

static void add(struct timespec* time, long long nanoseconds) {
  const long long kSecond = 1000000000;
  const long long sum = time->tv_sec * kSecond + time->tv_nsec + nanoseconds;
  time->tv_sec = sum > 0 ? sum / kSecond : 0;
  time->tv_nsec = sum > 0 ? sum % kSecond : 1;  // 0 would stop a timer
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  const int result = (int)syscall(SYS_clock_gettime, clock, time);
  if (result == 0 && ahead != NULL && (clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME)) add(time, *ahead);
  return result;
}

// All timers of keplerd's programs are monotonic.
int timerfd_settime(int fd, int flags, const struct itimerspec* wanted, struct itimerspec* before) {
  struct itimerspec value = *wanted;
  const int is_set = value.it_value.tv_sec != 0 || value.it_value.tv_nsec != 0;
  if (ahead != NULL && is_set && (flags & TFD_TIMER_ABSTIME) != 0) add(&value.it_value, -*ahead);
  return (int)syscall(SYS_timerfd_settime, fd, flags, &value, before);
}
