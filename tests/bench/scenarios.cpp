// SPDX-License-Identifier: Apache-2.0
#include "scenarios.h"

namespace keplerd {

std::span<const Scenario> scenarios() {
  static constexpr Scenario kAll[] = {
      {"tick-idle", tick_idle},         {"tick-moved", tick_moved},
      {"tick-vms", tick_vms},           {"log-idle", log_idle},
      {"log-moved", log_moved},         {"divide-idle", divide_idle},
      {"divide-moved", divide_moved},   {"divide-large", divide_large},
      {"divide-vms", divide_vms},       {"monitor-host", monitor_host},
      {"monitor-units", monitor_units}, {"monitor-processes", monitor_processes},
      {"monitor-vms", monitor_vms},     {"public-view", public_view},
  };
  return kAll;
}

}  // namespace keplerd
