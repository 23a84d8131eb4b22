// SPDX-License-Identifier: Apache-2.0
// What an sd-event loop calls, as objects: each has one function, which is called behind the barrier for
// exceptions (base/barrier.h), and ends with its owner, also while that function runs. `what` says what the
// function does, for the barrier's log; it must outlive the object. Times are of CLOCK_MONOTONIC.
//
// attach() fails where the loop has no memory or descriptors left. Without it nothing is ever called.
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
  void reset();  // as it was before attach()
  explicit operator bool() const { return source_ != nullptr; }

 protected:
  // What sd_event_add_*() has returned and made; `handler` is what it was given.
  Result<Done> take(int result, const char* function, sd_event_source* source, std::shared_ptr<void> handler);
  bool enable(int mode);  // SD_EVENT_OFF, SD_EVENT_ON, SD_EVENT_ONESHOT

  EventSource source_;
  std::shared_ptr<void> handler_;
};

// Calls once at the time that is set, and again when one is set again.
class Timer : public LoopSource {
 public:
  // `accuracy`: how much later it may be, so that the processor wakes up less often.
  Result<Done> attach(sd_event* loop, const char* what, std::function<void()> function,
                      Nanoseconds accuracy = Nanoseconds{0});
  void set_priority(std::int64_t priority);  // event/priority.h
  void set_accuracy(Nanoseconds accuracy);

  void set_at(Nanoseconds time);
  void set_after(Nanoseconds span);
  void stop() { enable(SD_EVENT_OFF); }
};

// Calls once, soon, when it is requested.
class Deferred : public LoopSource {
 public:
  Result<Done> attach(sd_event* loop, const char* what, std::function<void()> function,
                      std::int64_t priority = 0);
  void request() { enable(SD_EVENT_ONESHOT); }
  void cancel() { enable(SD_EVENT_OFF); }
};

// Calls while a descriptor, which must outlive it, has one of these events (EPOLL*), with those that it has.
class Io : public LoopSource {
 public:
  Result<Done> attach(sd_event* loop, int fd, std::uint32_t events, const char* what,
                      std::function<void(std::uint32_t events)> function);
  // False where epoll refuses: nothing is known of the descriptor any more.
  bool set_events(std::uint32_t events);
  bool set_enabled(bool enabled) { return enable(enabled ? SD_EVENT_ON : SD_EVENT_OFF); }
};

// Calls when the process gets a signal, which is blocked from then on.
class Signal : public LoopSource {
 public:
  Result<Done> attach(sd_event* loop, int number, const char* what, std::function<void()> function);
};

}  // namespace keplerd
