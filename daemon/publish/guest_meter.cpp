// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/guest_meter.h"

namespace keplerd {
GuestMeter guest_meter(const Report& report, const VmRow& vm) {
  GuestMeter meter{.sockets = vm.info->cpu_sockets};
  Microjoules packages, dram;
  for (std::size_t i = 0; i < report.zones.size(); ++i) {
    const Zone& zone = report.zones[i].zone;
    if (!zone.in_total) continue;
    const bool memory = zone.name == "dram";
    meter.has_dram = meter.has_dram || memory;
    if (i < vm.zones.size()) (memory ? dram : packages) += vm.zones[i].energy;
  }
  meter.packages = packages.value / kJoule;
  meter.dram = dram.value / kJoule;
  return meter;
}

std::int64_t socket_share(std::int64_t joules, int number, int sockets) {
  return (joules + sockets - 1 - number) / sockets;
}

}  // namespace keplerd
