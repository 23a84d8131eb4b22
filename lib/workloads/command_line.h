// SPDX-License-Identifier: Apache-2.0
// Whether a process is a virtual machine, and which: from its command line, its comm and its program alone.
// Nothing is made up: a VM without a name or a UUID has none.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/hypervisor.h"

namespace keplerd {

// More than any hypervisor is given; what is beyond is left out.
inline constexpr std::size_t kMaxCommandLineWords = 8192;

// The words of /proc/PID/cmdline: each ends with a NUL, the last one perhaps without. Empty for kernel
// threads and zombies. The views are into `text`.
std::vector<std::string_view> split_command_line(std::string_view text);

struct ProcessCommand {
  std::span<const std::string_view> words;  // argv, raw bytes
  std::string_view comm;     // /proc/PID/comm, at most 15 bytes, escaped by escape_name; empty: not known
  std::string_view program;  // what /proc/PID/exe points at; empty: not readable
};

struct VmCommand {
  Hypervisor hypervisor = Hypervisor::kKvm;
  std::string name;         // escaped by escape_name; empty where it has none
  bool name_given = false;  // false: `name` is of the UUID ("kvm-df12672f"), and any other name is better
  std::string uuid;         // lower case; empty where it has none
  std::string number;       // Proxmox's guest id, or Xen's domain id, in digits; else empty
  int cpu_sockets = 1;      // as its guest sees them
  std::vector<std::string> helper_sockets;  // Unix sockets that it shares with helpers (QEMU only): raw paths
  bool guest_elsewhere =
      false;  // a Xen device model: the hypervisor runs the guest, this process only its devices
};

// Whether it is worth a closer look: named like a hypervisor, by argv[0] or by the kernel. False for all that
// recognise_vm() would take for no VM because of their names.
bool is_named_like_a_hypervisor(const ProcessCommand& process);

// The VM that this process runs; none where it is something else. Where `program` is known it decides
// what the process is; else argv[0] does, and where QEMU's comm is known that has to agree (unless `-name
// process=` changed it). A QEMU that only answers a question (-version, -machine none) is no VM.
std::optional<VmCommand> recognise_vm(const ProcessCommand& process);

}  // namespace keplerd
