// SPDX-License-Identifier: Apache-2.0
#include "cli/sample_facts.h"

#include "cli/sample_replies.h"

namespace keplerd::cli {

DoctorFacts healthy() {
  DoctorFacts facts;
  facts.address = "/run/keplerd/org.keplerd.Energy";
  facts.status = measured_status();
  (*facts.status)["windowUsec"] = 1'000'000;
  (*facts.status)["daemonWindowCpuUsec"] = 3'400;
  facts.monotonic = std::chrono::milliseconds(5'000'300);
  facts.realtime = std::chrono::milliseconds(1'763'697'662'300);
  facts.socket = FileFacts{facts.address, 0666, "root", "keplerd", true};
  facts.caller.in_group = true;
  facts.meters = {{"powercap", true, "", "", {"powercap:package:0"}}, {"simulated", true, "", "", {}}};
  facts.counters = {{"/sys/class/powercap/intel-rapl:0/energy_uj", 0400, "root", "root", true}};
  facts.cgroup2 = "/sys/fs/cgroup";
  facts.has_cgroups = true;
  facts.interrupts_apart = true;
  facts.config_files = {"/etc/keplerd/keplerd.conf"};
  return facts;
}

}  // namespace keplerd::cli
