// SPDX-License-Identifier: Apache-2.0
#include "scenarios.h"

namespace keplerd {

std::span<const Scenario> scenarios() {
  static constexpr Scenario kAll[] = {
      {"tick-idle", tick_idle},
      {"tick-moved", tick_moved},
      {"tick-machines", tick_machines},
      {"divide-idle", divide_idle},
      {"divide-moved", divide_moved},
      {"divide-large", divide_large},
      {"divide-machines", divide_machines},
      {"tell-host", tell_host},
      {"tell-units", tell_units},
      {"tell-processes", tell_processes},
      {"tell-machines", tell_machines},
      {"view-of-stranger", view_of_stranger},
  };
  return kAll;
}

}  // namespace keplerd
