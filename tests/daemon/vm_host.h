// SPDX-License-Identifier: Apache-2.0
// A host with virtual machines, for the tests of Meter.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "daemon/meter_host.h"

namespace keplerd {

inline constexpr char kUuid[] = "2b9a43a1-5a5f-4cf0-9d3a-6a6f3a1d2c01";
inline constexpr char kOther[] = "7f1c8b1e-0000-4000-8000-00000000000a";
inline constexpr char kScope[] = "/machine.slice/machine-qemu\\x2d1\\x2dweb.scope";

inline std::string command(std::initializer_list<std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) (text += word) += '\0';
  return text;
}

inline std::string qemu(std::string_view name, std::string_view uuid) {
  return command({"/usr/bin/qemu-system-x86_64", "-name", "guest=" + std::string(name) + ",debug-threads=on",
                  "-uuid", uuid, "-S"});
}

// The groups that libvirt makes below kScope, and the VM 20 in them.
inline const std::string kLibvirtGroup = std::string(kScope) + "/libvirt";
inline void add_vm_with_threads(FakeHost& files) {
  files.add_cgroup(kLibvirtGroup);
  for (const char* const part : {"/vcpu0", "/emulator"}) {
    files.add_cgroup(kLibvirtGroup + part);
    files.set_cgroup_type(kLibvirtGroup + part, "threaded");
  }
  files.add_process(
      {.pid = 20, .comm = "qemu-system-x86", .cgroup = kLibvirtGroup, .cmdline = qemu("web", kUuid)});
}

using Events = std::vector<std::string>;

class VmTest : public testing::Test {
 protected:
  // A hypervisor in its libvirt scope.
  void start_in_scope(pid_t pid, const std::string& command_line = qemu("web", kUuid),
                      std::uint64_t start = 100) {
    host.files.add_cgroup(kScope);
    host.files.add_process(
        {.pid = pid, .comm = "qemu-system-x86", .start = start, .cgroup = kScope, .cmdline = command_line});
  }
  // Ends it, and its scope with it.
  void end_in_scope(pid_t pid) {
    host.files.remove_process(pid);
    host.files.remove_cgroup(kScope);
  }
  // The CPU time of all since boot, in ticks of 10 ms; groups have the sum of their processes.
  void use(pid_t pid, const std::string& cgroup, std::int64_t ticks) {
    host.files.set_process_time(pid, used[pid] += ticks);
    host.files.set_cgroup_usage(cgroup, (group_used[cgroup] += ticks) * 10'000);
  }
  void step(std::int64_t microjoules) {
    host.draw(microjoules);
    host.step();
  }
  // libvirt's status while the VM is running. `status`: elements of the status; `domain`: of the
  // definition.
  void write_status(const std::string& name, const std::string& uuid, pid_t pid,
                    const std::string& status = "", const std::string& domain = "",
                    const std::string& state = "state='running'") {
    host.files.write("root/run/libvirt/qemu/" + name + ".xml",
                     "<domstatus " + state + " pid='" + std::to_string(pid) + "'>" + status +
                         "<domain><name>" + name + "</name><uuid>" + uuid + "</uuid>" + domain +
                         "</domain></domstatus>");
  }
  // "NUMBER NAME EVENT: REASON"
  std::vector<std::string> events() {
    std::vector<std::string> out;
    for (const VmEvent& event : *host.meter().report()->vm_events)
      out.push_back(std::to_string(event.number) + " " + event.name + " " + event.event +
                    (event.reason ? ": " + *event.reason : ""));
    return out;
  }
  Microjoules energy(const std::string& id) {
    const VmRow* const row = host.vm(id);
    return row == nullptr ? Microjoules{-1} : row->active + row->idle;
  }

  MeterHost host;
  std::map<pid_t, std::int64_t> used;
  std::map<std::string, std::int64_t> group_used;
};

using Parts = std::vector<std::pair<std::string, std::int64_t>>;

inline Parts breakdown(const VmRow& row) {
  Parts out;
  for (const VmPart& part : row.parts) out.emplace_back(part.name, part.energy.value);
  return out;
}

}  // namespace keplerd
