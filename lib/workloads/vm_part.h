// SPDX-License-Identifier: Apache-2.0
// Names the parts of a virtual machine, by their cgroup or thread.
#pragma once

#include <string>
#include <string_view>

namespace keplerd {

// "vcpu3", "iothread:NAME", "vhost", "emulator". `cgroup`: libvirt's below the VM's: "vcpu3",
// "iothread1", "emulator", which includes vhost's workers.
std::string vm_part_of_cgroup(std::string_view cgroup);

// `comm`: of a QEMU thread with -name debug-threads=on: "CPU 3/KVM", "CPU 3/TCG", "IO NAME"; the kernel's
// "vhost-PID"; all others belong to the emulator. Escaped.
std::string vm_part_of_thread(std::string_view comm);

bool is_vcpu(std::string_view part);

// Natural order: vcpu2 before vcpu10.
struct PartOrder {
  bool operator()(std::string_view a, std::string_view b) const;
};

}  // namespace keplerd
