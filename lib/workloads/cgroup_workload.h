// SPDX-License-Identifier: Apache-2.0
// Classifies a cgroup by its path alone: a unit, a container, a pod, a virtual machine, or a plain group. No
// I/O: names that are not in the path (a docker container's, a pod's) must be looked up by the id. A path is
// a claim by the user who could create the cgroup (owner.h), and proves nothing.
//
// Sources: systemd's cgroup names (systemd.slice(5), systemd-escape(1)); the cgroup managers of runc, crun,
// podman, containerd, cri-o and kubelet; libvirt's virDomainDriverGenerateMachineName; LXC's
// lxc.cgroup.dir.*.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/hypervisor.h"
#include "workloads/unit_name.h"

namespace keplerd {

enum class CgroupKind { kGroup, kUnit, kContainer, kPod, kVirtualMachine };

struct CgroupWorkload {
  CgroupKind kind = CgroupKind::kGroup;
  UnitName group;  // set for every kind: a container's scope is a unit too

  // Details of the workload; all escaped by escape_name.
  std::string name;          // a unit's or group's as in `group`; else empty if the path has only an id
  bool name_exact = true;    // false: shortened by libvirt (64 bytes, letters, digits, "-" and "." only)
  std::string id;            // container: the runtime's full id (LXC, nspawn: its name, unique below one
                             // parent only); pod: UID; else empty
  std::string pod;           // container: UID of its pod
  std::string_view runtime;  // container, pod: "docker", "podman", "containerd", "crio", "kubernetes" (some
                             // runtime below kubelet), "lxc", "nspawn", "ecs", "nomad", "unknown"
  bool monitor = false;      // not the container itself but its monitor (conmon, lxc.monitor)
  std::optional<Hypervisor> hypervisor;  // virtual machine
  std::string vm_number;  // virtual machine: libvirt's domain id or Proxmox's guest id, in digits
};

// Classifies this very cgroup. Only a workload's topmost cgroup is the workload: those below it are again
// units or groups. `path`: "/machine.slice/machine-qemu\x2d6\x2dcirros.scope", escaped by escape_name; a line
// of /proc/PID/cgroup ("0::/...", "13:hugetlb:/...") or a path below /sys/fs/cgroup works, too.
CgroupWorkload recognise_cgroup(std::string_view path);

struct EnclosingWorkload {
  std::string_view path;  // of its topmost cgroup: a prefix of the given path
  CgroupWorkload workload;
};

// The containers, pods and virtual machines that `path` is or is inside of, innermost last.
std::vector<EnclosingWorkload> enclosing_workloads(std::string_view path);

}  // namespace keplerd
