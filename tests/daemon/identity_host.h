// SPDX-License-Identifier: Apache-2.0
// A host with several users who claim each other's workloads. Needs root, the only user who can create one.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>

#include <unistd.h>

#include "daemon/access/access.h"
#include "daemon/vm_host.h"

namespace keplerd {

inline constexpr Uid kAlice = 1000, kBob = 1001, kLibvirt = 64055;
inline constexpr char kCron[] = "/system.slice/cron.service";
inline constexpr char kAlices[] = "/user.slice/user-1000.slice/user@1000.service/app.slice";
inline constexpr char kBobs[] = "/user.slice/user-1001.slice/user@1001.service/app.slice";
inline const std::string kHex(64, 'a'), kInner(64, 'b');
inline const std::string kDocker = "/system.slice/docker-" + kHex + ".scope";

inline std::string of(Uid user, const std::string& id) { return "user-" + std::to_string(user) + "/" + id; }

class Identity : public VmTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can write a host of several users";
    host.files.write("root/etc/passwd",
                     "root:x:0:0::/:/bin/sh\nalice:x:1000:1000::/:/bin/sh\nbob:x:1001:1001::/:/bin/sh\n");
  }
  void add(pid_t pid, const std::string& cgroup, Uid user, const std::string& comm = "task",
           const std::string& command_line = "") {
    host.files.add_cgroup(cgroup);
    host.files.add_process({.pid = pid,
                            .comm = comm,
                            .start = static_cast<std::uint64_t>(pid),
                            .cgroup = cgroup,
                            .cmdline = command_line,
                            .user = user});
  }
  void add_qemu(pid_t pid, const std::string& cgroup, Uid user, const std::string& uuid = kUuid,
                const std::string& name = "forged") {
    add(pid, cgroup, user, "qemu-system-x86", qemu(name, uuid));
  }
  void set_owner(const std::string& file, Uid user) {
    const std::string path = host.files.paths().root + file.substr(std::string_view("root").size());
    if (::chown(path.c_str(), user, user) != 0) throw std::runtime_error("chown " + path);
  }
  // Including its groups.
  void use_all(pid_t pid, const std::string& cgroup, std::int64_t ticks) {
    host.files.set_process_time(pid, used[pid] += ticks);
    for (std::string path = cgroup; !path.empty(); path.resize(path.rfind('/')))
      host.files.set_cgroup_usage(path, (group_used[path] += ticks) * 10'000);
  }
  void end(pid_t pid, const std::string& cgroup) {
    host.files.remove_process(pid);
    host.files.remove_cgroup(cgroup);
    std::erase_if(group_used, [&](const auto& entry) { return entry.first.starts_with(cgroup); });
  }
  const ContainerRow& container(const std::string& id) {
    const ContainerRow* const row = host.container(id);
    if (row == nullptr) throw std::runtime_error("no container " + id);
    return *row;
  }
  const VmRow& vm(const std::string& id) {
    const VmRow* const row = host.vm(id);
    if (row == nullptr) throw std::runtime_error("no VM " + id);
    return *row;
  }
  // All text visible to this user, of all kinds.
  std::string shown_to(Uid user) {
    Access access(990, std::nullopt, [this] { return host.view().processes; });
    access.add(host.view().report);
    const ReportView view = access.view_for(access.identify(user, {}), RowKind::kProcesses);
    const auto& report = view.report;
    std::string text;
    for (const UnitRow& row : report->units) text += row.info->id + " " + row.info->name + "\n";
    for (const VmRow& row : report->vms)
      text += row.info->id + " " + row.info->name + " " + row.info->title + "\n";
    for (const auto* const rows : {&report->containers, &report->pods})
      for (const ContainerRow& row : *rows)
        text += row.info->id + " " + row.info->name + " " + row.info->name_space + "\n";
    for (const ProcessRow& row : view.processes->rows) {
      text += row.info->comm + " " + (row.container ? row.container->id : "") + " " +
              (row.vm ? row.vm->id + row.vm->name : "") + "\n";
    }
    if (report->vm_events)
      for (const VmEvent& event : *report->vm_events) text += event.id + " " + event.name + "\n";
    return text;
  }
  bool is_refused(const std::string& kind, Uid owner) {
    const auto claims = host.meter().report()->refused_claims;
    return claims && std::ranges::any_of(*claims, [&](const RefusedClaim& claim) {
             return claim.kind == kind && claim.owner == owner;
           });
  }
};

}  // namespace keplerd
