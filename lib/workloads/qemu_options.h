// SPDX-License-Identifier: Apache-2.0
// Parses QEMU's command line (qemu(1)), as far as it identifies the VM.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/vm_size.h"

namespace keplerd {

struct QemuOptions {
  // Raw bytes; empty if not given. If an option is repeated, the last one counts, as for QEMU.
  std::string name;                         // -name NAME, -name guest=NAME; ",," is ","
  std::string process;                      // -name process=NAME: the comm that it sets
  std::string uuid;                         // -uuid, else -smbios type=1,uuid=; lower case; empty if invalid
  std::string number;                       // -id N (Proxmox)
  std::string domain;                       // -xen-domid N
  int cpu_sockets = 1;                      // -smp sockets=; 1 if it is not given, or is more than 64
  VmSize size{.vcpus = 1, .memory = {}};    // -smp, -m; QEMU's default memory depends on the machine
  std::vector<std::string> helper_sockets;  // -chardev socket,path=, -netdev stream,addr.path=; at most 64
  bool no_vm = false;  // only prints information (-version, -cpu help), or has no VM (-machine none)
};

// `words`: argv, the program's name first. Options have one dash or two, and their value is the next word or
// follows "=". After an option that requires a value, the next word is the value even if it begins with a
// dash, as in QEMU; for options of no interest here, a value that begins with a dash is mistaken for an
// option.
QemuOptions parse_qemu_options(std::span<const std::string_view> words);

}  // namespace keplerd
