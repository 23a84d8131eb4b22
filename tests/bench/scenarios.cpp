// SPDX-License-Identifier: Apache-2.0
#include "scenarios.h"

namespace keplerd {

std::span<const Scenario> scenarios() {
  static constexpr Scenario kAll[] = {
      {"tick-idle", tick_idle},        {"tick-moved", tick_moved},
      {"tick-machines", tick_vms},     {"divide-idle", divide_idle},
      {"divide-moved", divide_moved},  {"divide-large", divide_large},
      {"divide-machines", divide_vms}, {"tell-host", make_host},
      {"tell-units", report_units},    {"tell-processes", report_processes},
      {"tell-machines", report_vms},   {"view-of-stranger", view_of_unprivileged},
  };
  return kAll;
}

}  // namespace keplerd
