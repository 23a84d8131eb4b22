// SPDX-License-Identifier: Apache-2.0
// The rows of a report, by kind. Their fields, as interfaces show them, are listed in fields.h. Energies are
// totals since counting began; power is the mean of the last window, absent if unknown.
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

// Of a zone's totals, what was counted under earlier instance ids (Report::instance_id).
struct EarlierZone {
  Microjoules energy, idle, kernel, unattributed;
  Microjoules placed;  // of `idle`, what was placed on workloads
  bool operator==(const EarlierZone&) const = default;
};

struct ZoneRow {
  Zone zone;
  bool current = true;  // false: from an earlier source, no longer counted
  Microjoules energy, active, idle;
  std::optional<Microwatts> power, active_power, idle_power;
  std::optional<std::string> problem;  // why it could not be read
  // Of a graphics card: why its energy is not divided, because it is not known who used it.
  std::optional<std::string> undivided = {};
  std::optional<Nanoseconds> age;  // of its meter's last reading; unset: it is read with each sample
  std::optional<Nanoseconds> lag;  // of the platform's meter, as PlatformReport has it
  Realtime since{0};
  std::optional<EarlierZone> earlier;  // unset: nothing was
};

// A workload's part of one zone.
struct ZoneShare {
  Microjoules energy;
  Microjoules idle;  // of it
  std::optional<Microwatts> power;
  std::optional<Microwatts> idle_power;  // of it; unset: nothing was ever placed here, or unknown
  // In the last window, the hardware counted the workload's use of the zone (UsageSample::counts).
  bool is_counted = false;
  bool operator==(const ZoneShare&) const = default;
};

struct VmPart {
  std::string name;  // "vcpu0", "emulator", "iothread:NAME", "vhost", "swtpm", "other"
  Microjoules energy;
  bool operator==(const VmPart&) const = default;
};

// Of a workload's totals, what was counted under earlier instance ids.
struct EarlierUsage {
  std::vector<Microjoules> zones;  // the first of Report::zones
  std::vector<Microjoules> idle;   // likewise, of these energies
  Nanoseconds cpu{0};
  std::vector<VmPart> parts;  // of VMs; they add up to its energy
};

struct WorkloadRow {
  bool running = true;
  // The owner (workloads/owner.h), which decides what a caller without full access may see. Unset:
  // unknown.
  std::optional<Uid> owner;
  Microjoules active, idle;  // their sum is its energy
  // Half the width of the 95 % interval of `active`; energy that was divided by rules without a known error
  // counts in full. Unset: the rules in force have none.
  std::optional<Microjoules> error;
  std::optional<Microwatts> power;
  std::optional<Microwatts> idle_power;  // of it, as ZoneShare has it
  Nanoseconds cpu{0};                    // CPU time that was counted along with the energy
  std::span<const ZoneShare> zones;      // in the order of Report::zones
  Realtime since{0};
  std::shared_ptr<const EarlierUsage> earlier;  // null: nothing was
  std::optional<Microjoules> earlier_energy;    // of active + idle; unset likewise
  std::optional<Microjoules> earlier_idle;      // of idle; unset likewise, or if it is 0
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
  // Of own: used since its processes were last read, and neither theirs nor other yet. Unset: none.
  std::optional<Microjoules> undivided;
};

// A container, or a pod.
struct ContainerInfo {
  std::string id;          // the runtime's full id; of a pod: its UID; as its owner claims it (claimed_id)
  std::string name;        // escaped; if unknown the id, a runtime's shortened to 12 characters
  std::string name_space;  // pods: of Kubernetes; empty: not known
  bool is_pod = false;
  std::string runtime;                // as in CgroupWorkload
  std::optional<std::string> parent;  // id of the container or pod around it
  std::optional<std::string> pod;     // containers: id of their pod
  std::string unit;                   // id of its topmost cgroup
  std::string uuid, title;            // of libvirt's LXC domains, as for a VM; empty: unknown
  std::string guest_state;            // likewise
};

struct ContainerRow : WorkloadRow {
  std::shared_ptr<const ContainerInfo> info;
  Microjoules own;                       // without the containers and pods inside it
  Microjoules other;                     // of own: processes that ended, moved away or were never seen
  std::optional<Microjoules> undivided;  // as UnitRow has it
  Microjoules in_parent;                 // what it used inside its present parent
};

struct VmInfo {
  std::string id;     // UUID, else "PID.STARTTIME" of its process; as its owner claims it (claimed_id)
  std::string name;   // escaped; the id if no name is known
  std::string title;  // display name; empty if it has none
  std::string hypervisor;
  std::string guest_state;  // as libvirt reports it: "running", "paused"; empty if unknown
  std::optional<std::string> uuid;
  std::int32_t pid = 0;
  std::optional<int> vcpus;
  std::optional<std::string> unit;       // id of its own cgroup, else of the one that its process is in
  std::optional<std::string> container;  // id of the container around it
  int cpu_sockets = 1;                   // as seen by its guest
  bool guest_elsewhere = false;          // this is its device model: the hypervisor itself runs the guest
  VmMetadata metadata;                   // "openstack.project" and the like
};

struct VmRow : WorkloadRow {
  std::shared_ptr<const VmInfo> info;
  std::optional<Nanoseconds> halt_polling;  // inside `cpu`, but since the VM started; not always known
  std::vector<VmPart> parts;  // their sum is its energy; empty if its parts cannot be distinguished
};

struct ProcessInfo {
  ProcessId id;
  std::string comm;                   // escaped
  std::optional<std::uint32_t> user;  // the effective one; unset if unknown
};

struct ProcessRow : WorkloadRow {
  std::shared_ptr<const ProcessInfo> info;
  std::shared_ptr<const UnitInfo> unit;  // null outside any
  std::shared_ptr<const ContainerInfo>
      container;                               // the innermost one around it, pods excluded; null outside any
  std::shared_ptr<const VmInfo> vm;            // the VM that it runs, or helps to run; null if none
  std::shared_ptr<const std::string> program;  // path of its executable, escaped; null if unknown
  Microjoules in_unit;                         // what it used in its present unit
};

}  // namespace keplerd
