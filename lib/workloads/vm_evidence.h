// SPDX-License-Identifier: Apache-2.0
// How well it is known which virtual machine something is.
#pragma once

#include <optional>
#include <string_view>

namespace keplerd {

// In rising rank. A guess is a VM's cgroup of which no process says more.
enum class VmEvidence { kGuess, kCommandLine, kScope, kRecord };

// As it is saved: "guess", "command-line", "scope", "record".
std::string_view vm_evidence_name(VmEvidence evidence);
std::optional<VmEvidence> parse_vm_evidence(std::string_view name);

}  // namespace keplerd
