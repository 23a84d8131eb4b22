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

std::vector<Json> vm_rows() {
  const Json rows = Json::parse(R"([
    {"id": "4dea22b3-1d52-d8f3-2516-782e98ab3fa0", "name": "web", "kind": "virtual-machine", "state": "running",
     "energyMicrojoules": 7200000000, "activeMicrojoules": 7200000000, "idleMicrojoules": 0,
     "powerMicrowatts": 11000000, "cpuUsec": 7500000000, "quality": "attributed", "sinceUsec": 1763694062000000,
     "hypervisor": "kvm", "uuid": "4dea22b3-1d52-d8f3-2516-782e98ab3fa0", "pid": 4242,
     "unit": "/machine.slice/machine-qemu\\x2d1\\x2dweb.scope"},
    {"id": "977.5120", "name": "dom7", "kind": "virtual-machine", "state": "running",
     "energyMicrojoules": 36000000, "activeMicrojoules": 36000000, "idleMicrojoules": 0,
     "powerMicrowatts": 500000, "cpuUsec": 9000000, "quality": "attributed", "sinceUsec": 1763694062000000,
     "hypervisor": "xen", "pid": 977, "unit": "/system.slice/xendomains.service", "guestElsewhere": true},
    {"id": "c7a5fdbd-edaf-9455-926a-d65c16db1809", "name": "old", "kind": "virtual-machine",
     "state": "terminated", "energyMicrojoules": 7200000, "activeMicrojoules": 7200000, "idleMicrojoules": 0,
     "cpuUsec": 1000, "quality": "attributed", "sinceUsec": 1763694062000000, "hypervisor": "kvm",
     "uuid": "c7a5fdbd-edaf-9455-926a-d65c16db1809", "pid": 4100}])");
  return {rows.begin(), rows.end()};
}

std::vector<Json> container_rows() {
  const Json rows = Json::parse(R"([
    {"id": "f2b9c1e4b7d05a6f2b9c1e4b7d05a6f2b9c1e4b7d05a6f2b9c1e4b7d05a6f2b9", "name": "cache",
     "kind": "container", "state": "running", "energyMicrojoules": 3600000000, "activeMicrojoules": 3600000000,
     "idleMicrojoules": 0, "powerMicrowatts": 4000000, "cpuUsec": 90000000, "quality": "attributed",
     "sinceUsec": 1763694062000000, "ownMicrojoules": 1800000000, "otherMicrojoules": 0, "runtime": "docker",
     "unit": "/system.slice/docker-f2b9.scope"},
    {"id": "build", "name": "build", "kind": "container", "state": "running", "energyMicrojoules": 1800000000,
     "activeMicrojoules": 1800000000, "idleMicrojoules": 0, "powerMicrowatts": 1500000, "cpuUsec": 45000000,
     "quality": "attributed", "sinceUsec": 1763694062000000, "ownMicrojoules": 1800000000,
     "otherMicrojoules": 0, "runtime": "lxc", "unit": "/system.slice/docker-f2b9.scope/lxc.payload.build",
     "parent": "f2b9c1e4b7d05a6f2b9c1e4b7d05a6f2b9c1e4b7d05a6f2b9c1e4b7d05a6f2b9"},
    {"id": "0b87a6b4c3d2e1f00b87a6b4c3d2e1f00b87a6b4c3d2e1f00b87a6b4c3d2e1f0", "name": "api",
     "kind": "container", "state": "running", "energyMicrojoules": 720000000, "activeMicrojoules": 720000000,
     "idleMicrojoules": 0, "powerMicrowatts": 200000, "cpuUsec": 9000000, "quality": "attributed",
     "sinceUsec": 1763694062000000, "ownMicrojoules": 720000000, "otherMicrojoules": 0,
     "runtime": "containerd", "podId": "5f0c7a6e-9e1d-4f43-8a2b-0c1d2e3f4a5b",
     "unit": "/kubepods.slice/kubepods-pod5f0c.slice/cri-containerd-0b87.scope",
     "parent": "5f0c7a6e-9e1d-4f43-8a2b-0c1d2e3f4a5b"}])");
  return {rows.begin(), rows.end()};
}

std::vector<Json> pod_rows() {
  const Json rows = Json::parse(R"([
    {"id": "5f0c7a6e-9e1d-4f43-8a2b-0c1d2e3f4a5b", "name": "api-7c5ddbdf54-x2x7k", "kind": "pod",
     "state": "running", "energyMicrojoules": 756000000, "activeMicrojoules": 756000000, "idleMicrojoules": 0,
     "powerMicrowatts": 210000, "cpuUsec": 9500000, "quality": "attributed", "sinceUsec": 1763694062000000,
     "ownMicrojoules": 36000000, "otherMicrojoules": 0, "runtime": "kubernetes", "namespace": "shop",
     "unit": "/kubepods.slice/kubepods-pod5f0c.slice"},
    {"id": "d2ffa0a3-6ac4-4b5e-9f0e-3f6b7f0f7a11", "name": "d2ffa0a3-6ac", "kind": "pod", "state": "running",
     "energyMicrojoules": 0, "activeMicrojoules": 0, "idleMicrojoules": 0, "cpuUsec": 0,
     "quality": "attributed", "sinceUsec": 1763694062000000, "ownMicrojoules": 0, "otherMicrojoules": 0,
     "runtime": "kubernetes", "unit": "/kubepods.slice/kubepods-podd2ff.slice"}])");
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

Json public_status() {
  Json status = measured_status();
  status.erase("accounts");
  status.erase("outsideOtherMicrojoules");
  return status;
}

Json tick_of(const Json& status, std::vector<Json> rows, std::vector<std::string> removed) {
  Json tick = Json::object();
  for (const char* name : {"host", "accounts", "platform", "wall", "source", "sequence", "realtimeUsec",
                           "monotonicUsec", "windowUsec", "instanceId"}) {
    if (status.contains(name)) tick[name] = status.at(name);
  }
  if (!rows.empty()) tick["rows"] = std::move(rows);
  if (!removed.empty()) tick["removed"] = std::move(removed);
  return tick;
}

}  // namespace keplerd::cli
