// SPDX-License-Identifier: Apache-2.0
// The programs that run virtual machines.
#pragma once

#include <string_view>

namespace keplerd {

enum class Hypervisor { kKvm, kXen, kVirtualBox, kVmware, kFirecracker, kCloudHypervisor, kKvmtool };

// The name in interfaces, an open set: "kvm" (QEMU, whether or not it uses KVM), "xen", "virtualbox",
// "vmware", "firecracker", "cloud-hypervisor", "kvmtool".
std::string_view hypervisor_name(Hypervisor hypervisor);

}  // namespace keplerd
