// SPDX-License-Identifier: Apache-2.0
// QEMU's command line (qemu(1)), as far as it tells which VM this is.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keplerd {

struct QemuOptions {
  // Raw bytes; empty where not given. Of an option that is repeated the last one counts, as for QEMU.
  std::string name;     // -name NAME, -name guest=NAME; ",," is ","
  std::string process;  // -name process=NAME: the comm that it takes
  std::string uuid;     // -uuid, else -smbios type=1,uuid=; lower case; empty where it is none
  std::string number;   // -id N (Proxmox)
  std::string domain;   // -xen-domid N
  int cpu_sockets = 1;  // -smp sockets=; 1 where it is not told, or is more than 64
  std::vector<std::string>
      helper_sockets;  // -chardev socket,path=, -netdev stream,addr.path=; no more than 64
  bool no_vm = false;  // it answers a question and ends (-version, -cpu help), or has no VM (-machine none)
};

// `words`: argv, the program's name first. Options are taken with one dash or two, their value as the next
// word or after "=". A word is an option's value where the option needs one, even if it begins with a dash,
// as QEMU reads it; of options that are of no interest here, values that begin with a dash are taken for
// options.
QemuOptions parse_qemu_options(std::span<const std::string_view> words);

}  // namespace keplerd
