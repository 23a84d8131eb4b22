// SPDX-License-Identifier: Apache-2.0
// Recognises processes that help to run a virtual machine from outside its hypervisor: an emulated TPM
// (swtpm), a shared file system (virtiofsd), a network (passt), another vhost-user device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workloads/command_line.h"

namespace keplerd {

struct HelperCommand {
  std::string program;             // "swtpm", "virtiofsd", "passt": the name of its part of the VM
  std::vector<std::string> paths;  // absolute paths in its arguments, raw; one may be its VM's socket
  std::string uuid;                // of its VM, if a path contains one (libvirt's swtpm); else empty
};

std::optional<HelperCommand> recognise_helper(const ProcessCommand& process);

}  // namespace keplerd
