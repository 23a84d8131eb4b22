// SPDX-License-Identifier: Apache-2.0
// Answers systemd's watchdog (sd_watchdog_enabled(3)) as long as the daemon is working. A no-op if systemd
// does not request it.
#pragma once

#include <functional>

#include "base/result.h"
#include "daemon/notify.h"
#include "event/sources.h"

namespace keplerd {

class Watchdog {
 public:
  // `is_working`: returning false withholds the answer, so that systemd restarts the daemon.
  Result<Done> attach(sd_event* loop, std::function<bool()> is_working) {
    const auto period = watchdog_period();
    if (!period) return Done{};
    const auto answer = [this, period = *period, is_working = std::move(is_working)] {
      timer_.set_after(period / 3);
      if (is_working()) notify_watchdog();
    };
    const auto added = timer_.attach(loop, "answering the watchdog", answer, std::chrono::seconds(1));
    timer_.set_after(*period / 3);
    return added;
  }

 private:
  Timer timer_;
};

}  // namespace keplerd
