// SPDX-License-Identifier: Apache-2.0
// An sd-event source that is released with its owner, even while its own callback is running.
#pragma once

#include <memory>

#include <systemd/sd-event.h>

namespace keplerd {

struct EventSourceDeleter {
  void operator()(sd_event_source* source) const { sd_event_source_disable_unref(source); }
};

using EventSource = std::unique_ptr<sd_event_source, EventSourceDeleter>;

}  // namespace keplerd
