// SPDX-License-Identifier: Apache-2.0
#include "daemon/background_job.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/barrier.h"
#include "base/unique_fd.h"
#include "daemon/clock.h"

namespace keplerd {

struct BackgroundJob::Shared {
  UniqueFd wake{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::exception_ptr thrown;  // owned by the thread until `ended`
  std::atomic<bool> ended = false;

  std::mutex lock;  // of what follows
  std::condition_variable changed;
  std::function<void()> work;  // not taken up yet
  bool abandoned = false;      // no more work will come
};

namespace {

// A new thread inherits the signal mask: signals are for the loop.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

// What `work` holds is released before its end is announced.
std::exception_ptr run(std::function<void()> work) noexcept {
  try {
    work();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace

BackgroundJob::BackgroundJob(sd_event* loop, const char* what)
    : what_(what), shared_(std::make_shared<Shared>()) {
  if (!shared_->wake) throw std::system_error(errno, std::generic_category(), "eventfd");
  const auto added =
      io_.attach(loop, shared_->wake.get(), EPOLLIN, what, [this](std::uint32_t) { finish(); });
  if (!added) throw std::system_error(added.error().code, std::generic_category(), added.error().message);
}

BackgroundJob::~BackgroundJob() {
  {
    const std::scoped_lock guard(shared_->lock);
    shared_->abandoned = true;
  }
  shared_->changed.notify_one();
}

// What the thread does.
void BackgroundJob::work_off(Shared& shared) {
  for (;;) {
    std::unique_lock guard(shared.lock);
    shared.changed.wait(guard, [&] { return shared.work || shared.abandoned; });
    if (!shared.work) return;
    auto work = std::exchange(shared.work, nullptr);
    guard.unlock();
    shared.thrown = run(std::move(work));
    shared.ended = true;
    ::eventfd_write(shared.wake.get(), 1);
  }
}

Result<Done> BackgroundJob::start(std::function<void()> work, std::function<void()> done) {
  if (!has_thread_) {
    try {
      const AllSignalsBlocked blocked;
      std::thread([shared = shared_]() noexcept { work_off(*shared); }).detach();
      has_thread_ = true;
    } catch (const std::system_error& error) {
      return system_error("thread for " + std::string(what_), error.code().value());
    }
  }
  shared_->thrown = nullptr;
  shared_->ended = false;
  {
    const std::scoped_lock guard(shared_->lock);
    shared_->work = std::move(work);
  }
  shared_->changed.notify_one();
  done_ = std::move(done);
  return Done{};
}

bool BackgroundJob::wait(Nanoseconds patience) {
  const Nanoseconds end = read_clock(CLOCK_MONOTONIC) + patience;
  while (is_busy() && !shared_->ended) {
    const Nanoseconds left = std::max(end - read_clock(CLOCK_MONOTONIC), Nanoseconds{0});
    pollfd wake{.fd = shared_->wake.get(), .events = POLLIN, .revents = 0};
    const timespec limit{.tv_sec = left / std::chrono::seconds(1),
                         .tv_nsec = (left % std::chrono::seconds(1)).count()};
    const int ready = ::ppoll(&wake, 1, &limit, nullptr);
    if (ready == 0 || (ready < 0 && errno != EINTR)) return false;
    drain(*shared_);
  }
  finish();
  return true;
}

// The previous job may wake the loop once more while the next one is running: `ended` distinguishes
// them.
void BackgroundJob::drain(Shared& shared) {
  eventfd_t count = 0;
  ::eventfd_read(shared.wake.get(), &count);
}

void BackgroundJob::finish() {
  drain(*shared_);
  if (!is_busy() || !shared_->ended) return;
  const auto done = std::exchange(done_, nullptr);
  if (const auto thrown = std::exchange(shared_->thrown, nullptr))
    behind_barrier(what_, [&] { std::rethrow_exception(thrown); });
  behind_barrier(what_, done);
}

}  // namespace keplerd
