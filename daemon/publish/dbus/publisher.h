// SPDX-License-Identifier: Apache-2.0
// Publishes org.keplerd1 on D-Bus (dbus/*.xml). The bus identifies callers (callers.h).
#pragma once

#include <memory>
#include <string>

#include <systemd/sd-event.h>

#include "daemon/publish/reports.h"
#include "event/fair_queue.h"

namespace keplerd {

class BusPublisher {
 public:
  // `bus`: "system", "session" or an address. If it is missing or goes away, keplerd keeps retrying: it
  // neither depends on it, nor waits for it. `limited`: where callers with limited access are answered. All
  // must outlive the publisher.
  BusPublisher(sd_event* loop, const std::string& bus, Reports& reports, FairQueue& limited);
  ~BusPublisher();
  BusPublisher(const BusPublisher&) = delete;
  BusPublisher& operator=(const BusPublisher&) = delete;

  // Call it after each new report; allowed within a handler, too.
  void update();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace keplerd
