// SPDX-License-Identifier: Apache-2.0
// Decides which process and which cgroup is which virtual machine, by ranked evidence: libvirt's root-owned
// records > a cgroup created by root for a VM (a scope in machine.slice or qemu.slice) > a process's
// command line. Anybody can write a command line, so it is a claim by its process's user: it never reaches
// the id, and so the account, of another user's VM, nor of one for which there is or was better evidence.
// Pure.
//
// More than 20 methods: one window is followed in steps that all change the same few maps.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "workloads/cgroup_workload.h"
#include "workloads/libvirt_status.h"
#include "workloads/owner.h"
#include "workloads/vm_evidence.h"
#include "workloads/vm_finder.h"
#include "workloads/vm_ids.h"

namespace keplerd {

// A cgroup created by root for a VM, by its incarnation. 0: none.
using VmScopeKey = std::uint64_t;

struct VmScope {
  VmScopeKey key = 0;
  const CgroupWorkload* workload = nullptr;
  Claimant claimant;
};

// Where a process is, and which user it runs as.
struct VmPlace {
  VmScopeKey scope = 0;
  Claimant claimant;  // on whose behalf it makes claims
  std::optional<Uid> user;
};

// Lookups that the registry needs. Places are those of the current window; all but oldest_in() are
// cheap.
class VmSurroundings {
 public:
  virtual ~VmSurroundings() = default;
  // Unset: it is gone.
  virtual std::optional<VmPlace> place(ProcessId process) const = 0;
  // The oldest process in each of these scopes that has one.
  virtual std::map<VmScopeKey, ProcessId> oldest_in(const std::set<VmScopeKey>& scopes) const = 0;
  // The status that libvirt's root-owned records have for this very process; null: none.
  virtual std::shared_ptr<const LibvirtStatus> record(ProcessId process) const = 0;
  // Whether libvirt's root-owned records name this very process as a VM's helper.
  virtual bool is_recorded_helper(ProcessId process) const = 0;
};

// The changes in a window.
struct VmSample {
  const std::vector<VmScope>& scopes;  // all present ones
  const std::vector<ProcessUsage>& processes;
  const FoundVms& found;  // indices into `processes`
  const std::vector<ProcessId>& ended;
};

// A running VM.
struct Vm {
  std::uint64_t number = 0;  // differs each time the VM is started
  std::size_t index = 0;     // in VmRegistry::running()
  std::string id;
  Claimant claimant;
  VmEvidence evidence = VmEvidence::kGuess;
  std::string uuid;         // empty if it has none
  VmCommand command;        // of the process found first
  ProcessId process;        // the process found first
  std::optional<Uid> user;  // which that process runs as
  std::vector<ProcessId> processes;
  std::vector<VmScopeKey> scopes;
  std::uint64_t described = 0;  // changes with `command` and `process`
};

// An id, or a VM's energy, that was claimed without entitlement.
struct RefusedVmClaim {
  std::string id;  // as it was claimed
  Claimant claimant;
  bool is_helper = false;
};

class VmRegistry {
 public:
  // Processes one window. References to VMs are valid until the next call.
  void update(const VmSample& sample, const VmSurroundings& surroundings);

  // By number.
  const std::vector<std::unique_ptr<Vm>>& running() const { return running_; }

  // The VM of a hypervisor process, of a scope, and of a helper that may be counted to it; null: none.
  const Vm* of_process(ProcessId process) const;
  const Vm* of_scope(VmScopeKey scope) const;
  struct Helper {
    HelperCommand command;
    Claimant claimant;
    const Vm* vm = nullptr;
  };
  const std::map<ProcessId, Helper>& helpers() const { return helpers_; }

  // Ids that changed owners since the last update: FROM has become TO, with its account.
  const std::vector<std::pair<std::string, std::string>>& renamed() const { return renamed_; }
  const std::vector<RefusedVmClaim>& refused() const { return refused_; }

  // Registers an account of an earlier run; drops one no longer kept; returns the best evidence for
  // one.
  void restore(const std::string& id, Uid owner, VmEvidence evidence) { ids_.bind(id, owner, evidence); }
  void forget(const std::string& id) { ids_.erase(id); }
  VmEvidence evidence(std::string_view id) const { return ids_.evidence(id); }

 private:
  struct Scope {
    Claimant claimant;
    Hypervisor hypervisor = Hypervisor::kKvm;
    Vm* vm = nullptr;
    int windows = 0;
    std::uint64_t seen = 0;  // the last update that included it
  };
  struct Identity {
    VmEvidence evidence = VmEvidence::kCommandLine;
    Claimant claimant;
    std::string uuid;
  };

  void follow_scopes(const VmSample& sample);
  void drop_ended(const VmSample& sample);
  void take(const ProcessUsage& process, const VmCommand& command, const VmSurroundings& surroundings);
  void follow(const VmSurroundings& surroundings);
  void promote(Vm& vm, Identity identity);
  void guess(const VmSurroundings& surroundings);
  void take_helpers(const VmSample& sample, const VmSurroundings& surroundings);
  void drop_helper(ProcessId process);
  const Vm* vm_of(ProcessId process, const Helper& helper, const VmSurroundings& surroundings);
  void drop_empty();

  Identity identify(ProcessId process, const std::string& uuid, const VmPlace& place,
                    const VmSurroundings& surroundings) const;
  Vm* joined_by(const ProcessUsage& process, const Identity& identity, VmScopeKey scope) const;
  Vm& create(ProcessId process, const VmCommand& command, const Identity& identity);
  std::string assign_id(const Identity& identity, ProcessId process, const Vm* self);
  void give_way(Vm& vm);
  void rename_account(const std::string& id);
  Vm* running_as(std::string_view id, const Vm* other_than) const;
  void inherit_scopes(Vm& vm);
  bool is_taken(const Scope& scope) const;
  void add_process(Vm& vm, ProcessId process);
  void drop_guess(Vm& vm);
  void leave(Vm& vm, VmScopeKey scope);
  void bind_to(VmScopeKey key, Vm& vm);

  std::vector<std::unique_ptr<Vm>> running_;
  std::unordered_map<VmScopeKey, Scope> scopes_;
  std::map<ProcessId, Vm*> by_process_;
  std::map<ProcessId, Helper> helpers_;
  std::map<Uid, std::size_t> helpers_of_users_;
  VmIds ids_;  // of every account, ended ones included
  std::vector<std::pair<std::string, std::string>> renamed_;
  std::vector<RefusedVmClaim> refused_;
  std::uint64_t updates_ = 0, numbers_ = 0, descriptions_ = 0;
};

}  // namespace keplerd
