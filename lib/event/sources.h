// SPDX-License-Identifier: Apache-2.0
// The sources of an sd-event loop as objects: each has one function, which is called behind the barrier for
// exceptions (base/barrier.h), and is released with its owner, even while that function is running. `what`
// names the function's purpose for the barrier's log; it must outlive the object. Times are of
// CLOCK_MONOTONIC.
//
// attach() fails if the loop is out of memory or descriptors. Until it succeeds, nothing is called.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.h"
#include "base/units.h"
#include "event/event_source.h"

namespace keplerd {

class LoopSource {
 public:
  void reset();                              // to the state before attach()
  void set_priority(std::int64_t priority);  // event/priority.h; of an attached one
  explicit operator bool() const { return source_ != nullptr; }

 protected:
  // Takes the result of sd_event_add_*() and the new source; `handler` is the one passed to it.
  Result<Done> take(int result, const char* function, sd_event_source* source, std::shared_ptr<void> handler);
  bool enable(int mode);  // SD_EVENT_OFF, SD_EVENT_ON, SD_EVENT_ONESHOT

  EventSource source_;
  std::shared_ptr<void> handler_;
};

// A one-shot timer: calls once at the time set, and again each time one is set.
class Timer : public LoopSource {
 public:
  // `accuracy`: how much later it may fire, to reduce the number of wake-ups.
  Result<Done> attach(sd_event* loop, const char* what, std::function<void()> function,
                      Nanoseconds accuracy = Nanoseconds{0});
  void set_accuracy(Nanoseconds accuracy);

  void set_at(Nanoseconds time);
  void set_after(Nanoseconds span);
  void stop() { enable(SD_EVENT_OFF); }
};

// Deferred call: calls once, soon after it is requested.
class Deferred : public LoopSource {
 public:
  Result<Done> attach(sd_event* loop, const char* what, std::function<void()> function,
                      std::int64_t priority = 0);
  void request() { enable(SD_EVENT_ONESHOT); }
  void cancel() { enable(SD_EVENT_OFF); }
};

// Calls while a descriptor, which must outlive it, has any of these events (EPOLL*), passing those it has.
class Io : public LoopSource {
 public:
  Result<Done> attach(sd_event* loop, int fd, std::uint32_t events, const char* what,
                      std::function<void(std::uint32_t events)> function);
  // False if epoll refuses: the descriptor is then no longer watched.
  bool set_events(std::uint32_t events);
  bool set_enabled(bool enabled) { return enable(enabled ? SD_EVENT_ON : SD_EVENT_OFF); }
};

// Calls when the process receives a signal, which is blocked from then on.
class Signal : public LoopSource {
 public:
  Result<Done> attach(sd_event* loop, int number, const char* what, std::function<void()> function);
};

}  // namespace keplerd
