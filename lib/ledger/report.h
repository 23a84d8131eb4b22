// SPDX-License-Identifier: Apache-2.0
// What publishers publish: all that is known after one sample, and never changed afterwards (but see Rows).
// Energies are totals since counting began; power is of the last window and absent where it is not known.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "energy/select_source.h"
#include "energy/zone.h"
#include "usage/usage_sample.h"
#include "workloads/libvirt_status.h"
#include "workloads/owner.h"

namespace keplerd {

using Realtime = std::chrono::microseconds;  // since 1970

struct HostReport {
  Microjoules energy;  // active + idle; of the zones that are in the total
  Microjoules active;
  Microjoules idle;
  std::optional<Microwatts> power, active_power, idle_power;
};

// They add up to the host's energy exactly.
struct AccountsReport {
  Microjoules idle, kernel, workloads, unattributed;
};

struct SourceReport {
  std::string name = "none";
  std::optional<Quality> quality;     // the worst of the zones in the total
  std::optional<std::string> reason;  // why there is none, or why the quality is no better
  SourceProbes tried;                 // what each was when it was last tried, the best first
};

struct ZoneReport {
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
  std::string uuid, title;            // of libvirt's LXC domains, as a machine has them; empty: none is known
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

struct VmEvent {
  std::uint64_t number = 0;           // one more than that of the event before
  Realtime at{0};                     // of the sample that saw it
  std::string id, name;               // of the VM
  std::optional<Uid> owner;           // of the VM
  std::string event;                  // "started", "stopped", "paused", "resumed", "crashed"
  std::optional<std::string> reason;  // as libvirt tells it: "migrated", "saved", "destroyed"
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

// An id that a workload claims which is another owner's, or a VM that a helper says it works for: it is
// counted apart, and nothing of the other is shown for it.
struct RefusedClaim {
  Realtime at{0};         // last
  std::string kind;       // "vm", "container", "pod", "helper" of a VM
  std::string id;         // what was claimed last
  Uid owner = kRootUser;  // who claims it
  std::string container;  // id of the container that claims it; empty outside any
  std::uint64_t count = 0;
};

// What keplerd itself costs.
struct OwnCost {
  Nanoseconds cpu{0};                  // CPU time since it was started
  Nanoseconds window_cpu{0};           // of it, since the sample before
  std::optional<std::int64_t> memory;  // bytes that are no file's
  // Of its process, since it was started; unset where that has no row.
  std::optional<Microjoules> energy;
  std::optional<Microwatts> power;
};

// Which rows a report must have. There may be very many processes: they are there for those who ask.
enum class Rows { kWithoutProcesses, kAll };

struct Report {
  Report() = default;
  Report(const Report&) = delete;  // rows refer to `shares` and `process_shares`
  Report& operator=(const Report&) = delete;

  // False: what a caller without full access may see of one. Accounts, outside_other, VMs' events, the
  // parts of a row by zone and those of a VM are then not known.
  bool full = true;

  std::uint64_t sequence = 0;
  Realtime realtime{0};
  Nanoseconds monotonic{0};
  Nanoseconds window{0};  // since the sample before; 0 at the first
  std::string instance_id;
  Realtime since{0};
  std::uint64_t discarded_windows = 0;
  std::size_t groups_left_out = 0;     // cgroups that are too many or too deep: counted in those above them
  std::size_t processes_left_out = 0;  // that are too many: counted in their units' `other`
  OwnCost own_cost;

  SourceReport source;
  HostReport host;
  AccountsReport accounts;
  // Of accounts.workloads, what no row shows any more: processes outside any unit that ended or moved, and
  // units that are no longer kept.
  Microjoules outside_other;
  Quality workload_quality = Quality::kAttributed;

  std::vector<ZoneReport> zones;
  std::vector<UnitRow> units;                             // by id: parents before their children
  std::vector<VmRow> vms;                                 // by id, as the next two
  std::shared_ptr<const std::vector<VmEvent>> vm_events;  // the last ones, oldest first; null: none
  std::vector<ContainerRow> containers;
  std::vector<ContainerRow> pods;
  std::vector<ZoneShare> shares;                                    // what these rows refer to
  std::shared_ptr<const std::vector<RefusedClaim>> refused_claims;  // at most 100; null: none
  std::size_t running_processes = 0;
  bool has_processes = false;         // the next two: all of them or, as long as nobody has asked, none
  std::vector<ProcessRow> processes;  // by pid and start
  std::vector<ZoneShare> process_shares;
};

// What happened to VMs after `earlier` was made, a report of the same ledger; nothing where that is
// null.
std::span<const VmEvent> events_since(const Report* earlier, const Report& report);

}  // namespace keplerd
