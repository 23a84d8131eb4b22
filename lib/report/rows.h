// SPDX-License-Identifier: Apache-2.0
// The rows of a report, by kind. Their fields, as interfaces show them, are listed in fields.h.
// Energies are totals since counting began; power is of the last window and absent where it is not known.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "energy/zone.h"
#include "usage/process_id.h"
#include "workloads/owner.h"
#include "workloads/vm_metadata.h"

namespace keplerd {

using Realtime = std::chrono::microseconds;  // since 1970

struct ZoneRow {
  Zone zone;
  bool current = true;  // false: from an earlier source, counted no more
  Microjoules energy, active, idle;
  std::optional<Microwatts> power, active_power, idle_power;
  std::optional<std::string> problem;  // why it could not be read
  Realtime since{0};
};

// A workload's part of one zone.
struct ZoneShare {
  Microjoules energy;
  std::optional<Microwatts> power;
  bool operator==(const ZoneShare&) const = default;
};

struct WorkloadRow {
  bool running = true;
  // Whose it is (workloads/owner.h): all that a caller without full access may see follows from it. Unset:
  // not known.
  std::optional<Uid> owner;
  Microjoules active, idle;  // their sum is its energy
  std::optional<Microwatts> power;
  Nanoseconds cpu{0};                // CPU time that was counted along with the energy
  std::span<const ZoneShare> zones;  // in the order of Report::zones
  Realtime since{0};
};

struct UnitInfo {
  std::string id;  // cgroup path, escaped
  std::string name;
  bool is_unit = false;
  std::optional<std::string> parent;  // id
};

struct UnitRow : WorkloadRow {
  std::shared_ptr<const UnitInfo> info;
  Microjoules own;    // without its descendants
  Microjoules other;  // of own: processes that ended, moved away or were never seen
};

// A container, or a pod.
struct ContainerInfo {
  std::string id;          // the runtime's full id; of a pod: its UID; as its owner claims it (claimed_id)
  std::string name;        // escaped; where none is known the id, a runtime's cut to 12 characters
  std::string name_space;  // pods: of Kubernetes; empty: not known
  bool is_pod = false;
  std::string runtime;                // as CgroupWorkload tells it
  std::optional<std::string> parent;  // id of the container or pod that it is inside of
  std::optional<std::string> pod;     // containers: id of their pod
  std::string unit;                   // id of its topmost cgroup
  std::string uuid, title;            // of libvirt's LXC domains, as a VM has them; empty: none is known
  std::string guest_state;            // likewise
};

struct ContainerRow : WorkloadRow {
  std::shared_ptr<const ContainerInfo> info;
  Microjoules own;        // without the containers and pods inside it
  Microjoules other;      // of own: processes that ended, moved away or were never seen
  Microjoules in_parent;  // what it used inside its present parent
};

struct VmInfo {
  std::string id;     // UUID, else "PID.STARTTIME" of its process; as its owner claims it (claimed_id)
  std::string name;   // escaped; the id where no name is known
  std::string title;  // for people; empty where it has none
  std::string hypervisor;
  std::string guest_state;  // as libvirt tells it: "running", "paused"; empty where nobody tells
  std::optional<std::string> uuid;
  std::int32_t pid = 0;
  std::optional<int> vcpus;
  std::optional<std::string> unit;       // id of its own cgroup, else of the one that its process is in
  std::optional<std::string> container;  // id of the container that it is inside of
  int cpu_sockets = 1;                   // as its guest sees them
  bool guest_elsewhere = false;          // this is its device model: the hypervisor runs the guest itself
  VmMetadata metadata;                   // "openstack.project" and the like
};

struct VmPart {
  std::string name;  // "vcpu0", "emulator", "iothread:NAME", "vhost", "swtpm", "other"
  Microjoules energy;
  bool operator==(const VmPart&) const = default;
};

struct VmRow : WorkloadRow {
  std::shared_ptr<const VmInfo> info;
  std::optional<Nanoseconds> halt_polling;  // inside `cpu`, but since the VM started; not always known
  std::vector<VmPart> parts;  // they add up to its energy; empty where its parts cannot be told apart
};

struct ProcessInfo {
  ProcessId id;
  std::string comm;                   // escaped
  std::optional<std::uint32_t> user;  // the effective one; unset where it is not known
};

struct ProcessRow : WorkloadRow {
  std::shared_ptr<const ProcessInfo> info;
  std::shared_ptr<const UnitInfo> unit;            // null outside any
  std::shared_ptr<const ContainerInfo> container;  // the innermost that it is in, no pod; null outside any
  std::shared_ptr<const VmInfo> vm;                // that it runs, or helps to run; null where it is of none
  Microjoules in_unit;                             // what it used in its present unit
};

}  // namespace keplerd
