// SPDX-License-Identifier: Apache-2.0
#include "cli/sample_replies.h"

namespace keplerd::cli {

Json measured_status() {
  return Json::parse(R"({
    "host": {"energyMicrojoules": 44280000000, "activeMicrojoules": 8280000000, "idleMicrojoules": 36000000000,
             "powerMicrowatts": 42300000, "activeMicrowatts": 12300000, "idleMicrowatts": 30000000},
    "accounts": {"idle": 36000000000, "kernel": 120000000, "workloads": 8160000000, "unattributed": 0},
    "source": {"name": "powercap", "quality": "measured"},
    "split": "usage-ratio", "share": "cpu-time", "idle": "separate", "intervalUsec": 1000000,
    "sequence": 1234, "realtimeUsec": 1763697662000000, "monotonicUsec": 5000000000, "windowUsec": 1000123,
    "instanceId": "0123456789abcdef", "sinceUsec": 1763694062000000,
    "outsideOtherMicrojoules": 0, "discardedWindows": 0})");
}

Json simulated_status() {
  Json status = measured_status();
  status["source"] = Json{{"name", "simulated"}, {"quality", "simulated"}};
  return status;
}

Json unmeasured_status() {
  Json status = measured_status();
  for (const char* name : {"powerMicrowatts", "activeMicrowatts", "idleMicrowatts"})
    status["host"].erase(name);
  for (auto& [name, value] : status["host"].items()) value = 0;
  for (auto& [name, value] : status["accounts"].items()) value = 0;
  status["source"] = Json{{"name", "none"}, {"reason", "powercap: no zones in /sys/class/powercap"}};
  return status;
}

std::vector<Json> unit_rows() {
  const Json rows = Json::parse(R"([
    {"id": "/system.slice", "name": "system.slice", "kind": "unit", "state": "running",
     "energyMicrojoules": 8000000000, "activeMicrojoules": 8000000000, "idleMicrojoules": 0,
     "powerMicrowatts": 12000000, "cpuUsec": 7500000000, "quality": "attributed", "sinceUsec": 1763694062000000,
     "ownMicrojoules": 0, "otherMicrojoules": 0},
    {"id": "/system.slice/ssh.service", "name": "ssh.service", "kind": "unit", "state": "running",
     "energyMicrojoules": 7500000000, "activeMicrojoules": 7500000000, "idleMicrojoules": 0,
     "powerMicrowatts": 11500000, "cpuUsec": 90000000,
     "zones": [{"id": "powercap:package:0", "name": "package", "index": 0, "energyMicrojoules": 7000000000,
                "powerMicrowatts": 11000000},
               {"id": "powercap:dram:0", "name": "dram", "index": 0, "energyMicrojoules": 500000000}],
     "quality": "attributed", "sinceUsec": 1763694062000000, "parent": "/system.slice",
     "ownMicrojoules": 7500000000, "otherMicrojoules": 1000},
    {"id": "/system.slice/old.service", "name": "old.service", "kind": "unit", "state": "terminated",
     "energyMicrojoules": 500000000, "activeMicrojoules": 500000000, "idleMicrojoules": 0, "cpuUsec": 1000,
     "quality": "attributed", "sinceUsec": 1763694062000000, "parent": "/system.slice",
     "ownMicrojoules": 500000000, "otherMicrojoules": 500000000}])");
  return {rows.begin(), rows.end()};
}

std::vector<Json> process_rows() {
  const Json rows = Json::parse(R"([
    {"id": "812.4711", "name": "sshd", "kind": "process", "state": "running", "energyMicrojoules": 7499999000,
     "activeMicrojoules": 7499999000, "idleMicrojoules": 0, "powerMicrowatts": 11500000, "cpuUsec": 89000000,
     "quality": "attributed", "sinceUsec": 1763694062000000, "pid": 812, "comm": "sshd",
     "unit": "/system.slice/ssh.service", "unitMicrojoules": 7499999000},
    {"id": "9.5", "name": "stray", "kind": "process", "state": "running", "energyMicrojoules": 0,
     "activeMicrojoules": 0, "idleMicrojoules": 0, "cpuUsec": 0, "quality": "attributed",
     "sinceUsec": 1763694062000000, "pid": 9, "comm": "stray", "unitMicrojoules": 0}])");
  return {rows.begin(), rows.end()};
}

std::vector<Json> zone_rows() {
  const Json rows = Json::parse(R"([
    {"id": "powercap:package:0", "name": "package", "kind": "zone", "state": "running",
     "energyMicrojoules": 44280000000, "activeMicrojoules": 8280000000, "idleMicrojoules": 36000000000,
     "powerMicrowatts": 42300000, "activeMicrowatts": 12300000, "idleMicrowatts": 30000000,
     "quality": "measured", "sinceUsec": 1763694062000000, "index": 0, "inTotal": true},
    {"id": "powercap:core:0", "name": "core", "kind": "zone", "state": "running", "energyMicrojoules": 1000000,
     "activeMicrojoules": 1000000, "idleMicrojoules": 0, "quality": "measured", "sinceUsec": 1763694062000000,
     "index": 0, "inTotal": false}])");
  return {rows.begin(), rows.end()};
}

Json tick_of(const Json& status, std::vector<Json> rows, std::vector<std::string> removed) {
  Json tick = Json::object();
  for (const char* name : {"host", "accounts", "source", "sequence", "realtimeUsec", "monotonicUsec",
                           "windowUsec", "instanceId"}) {
    tick[name] = status.at(name);
  }
  if (!rows.empty()) tick["rows"] = std::move(rows);
  if (!removed.empty()) tick["removed"] = std::move(removed);
  return tick;
}

}  // namespace keplerd::cli
