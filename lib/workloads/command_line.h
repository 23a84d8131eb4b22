// SPDX-License-Identifier: Apache-2.0
// Recognises virtual machines by a process's command line, comm and program alone. Nothing is made up: a VM
// without a name or a UUID has none.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/hypervisor.h"
#include "workloads/vm_size.h"

namespace keplerd {

// More than any hypervisor has; the rest is ignored.
inline constexpr std::size_t kMaxCommandLineWords = 8192;

// The words of /proc/PID/cmdline: each ends with a NUL, except possibly the last one. Empty for kernel
// threads and zombies. The views refer to `text`.
std::vector<std::string_view> split_command_line(std::string_view text);

struct ProcessCommand {
  std::span<const std::string_view> words;  // argv, raw bytes
  std::string_view comm;     // /proc/PID/comm, at most 15 bytes, escaped by escape_name; empty: unknown
  std::string_view program;  // target of /proc/PID/exe; empty: not readable
};

struct VmCommand {
  Hypervisor hypervisor = Hypervisor::kKvm;
  std::string name;         // escaped by escape_name; empty if it has none
  bool name_given = false;  // false: derived from the UUID ("kvm-df12672f"); any other name is better
  std::string uuid;         // lower case; empty if it has none
  std::string number;       // Proxmox's guest id, or Xen's domain id, in digits; else empty
  int cpu_sockets = 1;      // as seen by its guest
  VmSize size;              // when it was started
  std::vector<std::string> helper_sockets;  // Unix sockets shared with helpers (QEMU only): raw paths
  bool guest_elsewhere =
      false;  // a Xen device model: the hypervisor runs the guest, this process only its devices
};

// Whether a closer look is worthwhile: named like a hypervisor, by argv[0] or by the kernel. False for
// everything that recognise_vm() would reject by name.
bool is_named_like_a_hypervisor(const ProcessCommand& process);

// The VM that this process runs; none if it is something else. If `program` is known, it decides what the
// process is; else argv[0] does, and if QEMU's comm is known it has to agree (unless changed by `-name
// process=`). A QEMU that only prints information (-version, -machine none) is not a VM.
std::optional<VmCommand> recognise_vm(const ProcessCommand& process);

}  // namespace keplerd
