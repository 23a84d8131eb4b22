// SPDX-License-Identifier: Apache-2.0
// Background on an sd-event loop: one job at a time, in a thread that is created for the first one, ends
// with this object, and notifies the loop through an eventfd. The thread is never joined: a job that hangs
// blocks neither the loop nor the exit.
#pragma once

#include <functional>
#include <memory>

#include <systemd/sd-event.h>

#include "base/background.h"
#include "base/units.h"
#include "event/sources.h"

namespace keplerd {

class BackgroundJob : public Background {
 public:
  // `what` names the job in the log: "saving". Throws std::system_error.
  BackgroundJob(sd_event* loop, const char* what);
  ~BackgroundJob() override;
  BackgroundJob(const BackgroundJob&) = delete;
  BackgroundJob& operator=(const BackgroundJob&) = delete;

  bool is_busy() const override { return static_cast<bool>(done_); }
  Result<Done> start(std::function<void()> work, std::function<void()> done) override;

  // Waits for the job, at most `patience`, and calls its `done`. Returns false if it is still running.
  bool wait(Nanoseconds patience);

 private:
  struct Shared;
  static void work_off(Shared& shared);
  static void drain(Shared& shared);
  void finish();

  const char* what_;
  std::shared_ptr<Shared> shared_;  // shared with the thread
  bool has_thread_ = false;
  std::function<void()> done_;  // of the running job
  Io io_;
};

}  // namespace keplerd
