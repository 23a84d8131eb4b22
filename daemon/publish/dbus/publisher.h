// SPDX-License-Identifier: Apache-2.0
// org.keplerd1 on D-Bus (dbus/*.xml). Who calls is asked of the bus (callers.h).
#pragma once

#include <memory>
#include <string>

#include <systemd/sd-event.h>

#include "daemon/publish/reports.h"
#include "event/fair_queue.h"

namespace keplerd {

class BusPublisher {
 public:
  // `bus`: "system", "session" or an address. Where it is not there, or goes, it is tried again and again:
  // keplerd does not depend on it, and does not wait for it. `limited`: where callers with limited access are
  // answered. All must outlive the publisher.
  BusPublisher(sd_event* loop, const std::string& bus, Reports& reports, FairQueue& limited);
  ~BusPublisher();
  BusPublisher(const BusPublisher&) = delete;
  BusPublisher& operator=(const BusPublisher&) = delete;

  // After each new report, also within a handler.
  void update();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace keplerd
