// SPDX-License-Identifier: Apache-2.0
// Whether a process helps to run a virtual machine from outside its hypervisor: an emulated TPM (swtpm), a
// shared file system (virtiofsd), a network (passt), another vhost-user device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workloads/command_line.h"

namespace keplerd {

struct HelperCommand {
  std::string program;             // "swtpm", "virtiofsd", "passt": what its part of the VM is called
  std::vector<std::string> paths;  // absolute paths in its arguments, raw; one may be its VM's socket
  std::string uuid;                // of its VM, where a path has one (libvirt's swtpm); else empty
};

std::optional<HelperCommand> recognise_helper(const ProcessCommand& process);

}  // namespace keplerd
