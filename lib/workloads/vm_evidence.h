// SPDX-License-Identifier: Apache-2.0
// How reliably a process or cgroup is known to be a certain virtual machine.
#pragma once

#include <optional>
#include <string_view>

namespace keplerd {

// In ascending order. A guess is a VM's cgroup without a process that identifies the VM.
enum class VmEvidence { kGuess, kCommandLine, kScope, kRecord };

// The saved form: "guess", "command-line", "scope", "record".
std::string_view vm_evidence_name(VmEvidence evidence);
std::optional<VmEvidence> parse_vm_evidence(std::string_view name);

}  // namespace keplerd
