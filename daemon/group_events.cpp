// SPDX-License-Identifier: Apache-2.0
#include "daemon/group_events.h"

#include <sys/epoll.h>

#include "event/priority.h"

namespace keplerd {

Result<Done> GroupEvents::attach(sd_event* loop) {
  for (Queue& queue : queues_) {
    const int descriptor = host_.descriptor(queue.queue);
    if (descriptor < 0) continue;
    const auto paused =
        queue.pause.attach(loop, "resuming the events of cgroups", [&queue] { queue.io.set_enabled(true); });
    if (!paused) return paused;
    const auto attached = queue.io.attach(loop, descriptor, EPOLLIN, "taking the events of cgroups",
                                          [this, &queue](std::uint32_t) { take(queue); });
    if (!attached) return attached;
    // The manager may remove the group at any moment.
    queue.io.set_priority(priority::kSampling);
    queue.pause.set_priority(priority::kSampling);
  }
  return Done{};
}

void GroupEvents::take(Queue& queue) {
  const Nanoseconds begun = host_.cpu_time();
  host_.take(queue.queue);
  const Nanoseconds now = host_.now();
  queue.budget.spend(now, host_.cpu_time() - begun);
  const Nanoseconds wait = queue.budget.wait(now);
  if (wait == Nanoseconds{0}) return;
  queue.io.set_enabled(false);
  queue.pause.set_after(wait);
}

}  // namespace keplerd
