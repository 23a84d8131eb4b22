// SPDX-License-Identifier: Apache-2.0
#include "workloads/hypervisor.h"

namespace keplerd {

std::string_view hypervisor_name(Hypervisor hypervisor) {
  switch (hypervisor) {
    case Hypervisor::kKvm:
      return "kvm";
    case Hypervisor::kXen:
      return "xen";
    case Hypervisor::kVirtualBox:
      return "virtualbox";
    case Hypervisor::kVmware:
      return "vmware";
    case Hypervisor::kFirecracker:
      return "firecracker";
    case Hypervisor::kCloudHypervisor:
      return "cloud-hypervisor";
    case Hypervisor::kKvmtool:
      return "kvmtool";
  }
  return "unknown";
}

}  // namespace keplerd
