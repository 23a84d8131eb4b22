// SPDX-License-Identifier: Apache-2.0
// What a ledger saves for the next run, as values and as text (JSON). Processes and CPU times are not in the
// text: they end with the boot, and are only in the write-ahead log.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attribution/attributor.h"
#include "base/result.h"
#include "report/report.h"
#include "usage/process_id.h"
#include "usage/saved_usage.h"
#include "workloads/vm_evidence.h"

namespace keplerd {

struct ZoneState {
  std::string id, name;
  int index = 0;
  Quality quality = Quality::kMeasured;
  bool in_total = false;
  Microjoules energy, idle, kernel, unattributed;
  Microjoules placed;  // of `idle`, what was placed on workloads
  Realtime since{0};

  // What it gave to workloads.
  Microjoules workloads() const { return energy - idle - kernel - unattributed + placed; }
};

// What the zones in the host's total gave to workloads.
Microjoules energy_of_workloads(const std::vector<ZoneState>& zones);

struct UnitState {
  std::string id;
  std::vector<Microjoules> energy;  // by zone, in the order of LedgerState::zones; descendants included
  std::vector<Microjoules> idle;    // of it, what was placed on it; likewise, as far as it is not 0
  Microjoules own;
  Microjoules error;  // as WorkloadRow has it
  Nanoseconds cpu{0};
  Realtime since{0};
  std::optional<Realtime> ended;  // unset: it was running when this was written
  std::optional<Uid> owner;       // as WorkloadRow has it
};

struct ContainerState {
  ContainerInfo info;
  std::vector<Microjoules> energy, idle;  // as UnitState has them
  Microjoules own, in_parent;
  Microjoules error;  // as WorkloadRow has it
  Nanoseconds cpu{0};
  Realtime since{0};
  std::optional<Realtime> ended;
  std::optional<Uid> owner;
};

struct VmState {
  VmInfo info;
  std::vector<VmPart> parts;  // without "other"
  std::vector<Microjoules> energy, idle;
  Microjoules error;  // as WorkloadRow has it
  Nanoseconds cpu{0};
  Realtime since{0};
  std::optional<Realtime> ended;
  std::optional<Uid> owner;
  std::optional<VmEvidence> evidence;  // the best ever seen
};

// For a running process; `in_unit` is counted in its unit's `other` until it is seen again.
struct ProcessState {
  ProcessId id;
  std::string unit;  // its id; empty outside any
  std::vector<Microjoules> energy, idle;
  Microjoules in_unit;
  Microjoules error;  // as WorkloadRow has it
  Nanoseconds cpu{0};
  Realtime since{0};
};

struct LedgerState {
  std::string instance_id;
  Realtime since{0};
  Realtime saved{0};
  bool clean = false;  // written at exit: nothing was published after it
  std::string boot_id;
  std::uint64_t discarded_windows = 0;
  Microjoules outside_other;
  std::vector<ZoneState> zones;
  std::vector<UnitState> units;            // parents before their children
  std::vector<ContainerState> containers;  // and pods
  std::vector<VmState> vms;
  std::vector<ProcessState> processes;
  std::vector<SavedReading> readings;  // of the counters; meaningless on another boot
  std::optional<SavedUsage> usage;     // at the last sample; only in the write-ahead log
  SavedModels models;
};

std::string format_state(const LedgerState& state);

// One row of the text; reading a malformed one throws Malformed (state_checks.h).
std::string format_row(const ContainerState& container);
std::string format_row(const VmState& vm);
ContainerState parse_container(std::string_view text, std::size_t zones);
VmState parse_vm(std::string_view text, std::size_t zones);

// Fails if the text is not a valid state, or its sums do not hold. A state from before owners or evidence
// were recorded is given them (state_owners.h).
Result<LedgerState> parse_state(std::string_view text);

}  // namespace keplerd
