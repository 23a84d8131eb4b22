// SPDX-License-Identifier: Apache-2.0
#include "event/sources.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>

#include "base/barrier.h"

namespace keplerd {
namespace {

template <class... Arguments>
struct Handler : std::enable_shared_from_this<Handler<Arguments...>> {
  Handler(const char* what_it_does, std::function<void(Arguments...)> called)
      : what(what_it_does), function(std::move(called)) {}
  int call(Arguments... arguments) noexcept {
    const auto keep = this->shared_from_this();  // the function may end its owner
    behind_barrier(what, [&] { function(arguments...); });
    return 0;
  }
  const char* what;
  std::function<void(Arguments...)> function;
};

using Plain = Handler<>;
using OfEvents = Handler<std::uint32_t>;

int on_time(sd_event_source*, std::uint64_t, void* handler) { return static_cast<Plain*>(handler)->call(); }
int on_turn(sd_event_source*, void* handler) { return static_cast<Plain*>(handler)->call(); }
int on_signal(sd_event_source*, const signalfd_siginfo*, void* handler) {
  return static_cast<Plain*>(handler)->call();
}
int on_events(sd_event_source*, int, std::uint32_t events, void* handler) {
  return static_cast<OfEvents*>(handler)->call(events);
}

std::uint64_t rounded_up(Nanoseconds span) {
  return static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::microseconds>(span).count());
}

// sd-event interprets 0 as 250 ms.
std::uint64_t accuracy_usec(Nanoseconds accuracy) { return std::max<std::uint64_t>(rounded_up(accuracy), 1); }

}  // namespace

void LoopSource::reset() {
  source_.reset();
  handler_.reset();
}

Result<Done> LoopSource::take(int result, const char* function, sd_event_source* source,
                              std::shared_ptr<void> handler) {
  if (result < 0) return system_error(function, -result);
  source_.reset(source);
  handler_ = std::move(handler);
  return Done{};
}

bool LoopSource::enable(int mode) { return source_ && sd_event_source_set_enabled(source_.get(), mode) >= 0; }

Result<Done> Timer::attach(sd_event* loop, const char* what, std::function<void()> function,
                           Nanoseconds accuracy) {
  auto handler = std::make_shared<Plain>(what, std::move(function));
  sd_event_source* source = nullptr;
  const int result = sd_event_add_time(loop, &source, CLOCK_MONOTONIC, UINT64_MAX, accuracy_usec(accuracy),
                                       on_time, handler.get());
  const auto taken = take(result, "sd_event_add_time", source, std::move(handler));
  stop();
  return taken;
}

void LoopSource::set_priority(std::int64_t priority) {
  if (source_) sd_event_source_set_priority(source_.get(), priority);
}

void Timer::set_accuracy(Nanoseconds accuracy) {
  if (source_) sd_event_source_set_time_accuracy(source_.get(), accuracy_usec(accuracy));
}

void Timer::set_at(Nanoseconds time) {
  if (source_) sd_event_source_set_time(source_.get(), rounded_up(time));
  enable(SD_EVENT_ONESHOT);
}

void Timer::set_after(Nanoseconds span) {
  if (source_) sd_event_source_set_time_relative(source_.get(), rounded_up(span));
  enable(SD_EVENT_ONESHOT);
}

Result<Done> Deferred::attach(sd_event* loop, const char* what, std::function<void()> function,
                              std::int64_t priority) {
  auto handler = std::make_shared<Plain>(what, std::move(function));
  sd_event_source* source = nullptr;
  const int result = sd_event_add_defer(loop, &source, on_turn, handler.get());
  const auto taken = take(result, "sd_event_add_defer", source, std::move(handler));
  if (taken) sd_event_source_set_priority(source, priority);
  cancel();
  return taken;
}

Result<Done> Io::attach(sd_event* loop, int fd, std::uint32_t events, const char* what,
                        std::function<void(std::uint32_t events)> function) {
  auto handler = std::make_shared<OfEvents>(what, std::move(function));
  sd_event_source* source = nullptr;
  const int result = sd_event_add_io(loop, &source, fd, events, on_events, handler.get());
  return take(result, "sd_event_add_io", source, std::move(handler));
}

bool Io::set_events(std::uint32_t events) {
  return source_ && sd_event_source_set_io_events(source_.get(), events) >= 0;
}

Result<Done> Signal::attach(sd_event* loop, int number, const char* what, std::function<void()> function) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  auto handler = std::make_shared<Plain>(what, std::move(function));
  sd_event_source* source = nullptr;
  const int result = sd_event_add_signal(loop, &source, number, on_signal, handler.get());
  return take(result, "sd_event_add_signal", source, std::move(handler));
}

}  // namespace keplerd
