// SPDX-License-Identifier: Apache-2.0
// Has what happens to groups (usage/cgroup_watch.h) taken as it happens, so that a group is read when its
// last process has ended, and not only with the next sample. Of a processor, each queue gets no more than one
// part in 50: events that come faster wait for that, or for the next sample.
#pragma once

#include <array>
#include <functional>

#include <systemd/sd-event.h>

#include "base/result.h"
#include "base/time_budget.h"
#include "base/units.h"
#include "event/sources.h"
#include "usage/cgroup_watch.h"

namespace keplerd {

class GroupEvents {
 public:
  struct Host {
    std::function<int(CgroupQueue)> descriptor;  // readable while there are events; -1: none
    std::function<void(CgroupQueue)> take;       // some of them
    std::function<Nanoseconds()> now;            // CLOCK_MONOTONIC
    std::function<Nanoseconds()> cpu_time;       // of this thread
  };
  explicit GroupEvents(Host host) : host_(std::move(host)) {}
  GroupEvents(const GroupEvents&) = delete;  // not copyable: the loop refers to it
  GroupEvents& operator=(const GroupEvents&) = delete;

  Result<Done> attach(sd_event* loop);

 private:
  struct Queue {
    CgroupQueue queue;
    TimeBudget budget{
        {.share = 50, .most_saved = std::chrono::milliseconds(50), .most_wait = std::chrono::seconds(5)}};
    Io io;
    Timer pause;
  };
  void take(Queue& queue);

  Host host_;
  std::array<Queue, kCgroupQueues.size()> queues_{{{.queue = kCgroupQueues[0]}, {.queue = kCgroupQueues[1]}}};
};

}  // namespace keplerd
