// SPDX-License-Identifier: Apache-2.0
// An sd-event source that ends with its owner, also while its own callback runs.
#pragma once

#include <memory>

#include <systemd/sd-event.h>

namespace keplerd {

struct EventSourceDeleter {
  void operator()(sd_event_source* source) const { sd_event_source_disable_unref(source); }
};

using EventSource = std::unique_ptr<sd_event_source, EventSourceDeleter>;

}  // namespace keplerd
