// SPDX-License-Identifier: Apache-2.0
// What a part of a virtual machine is, by the name of its cgroup or thread.
#pragma once

#include <string>
#include <string_view>

namespace keplerd {

// "vcpu3", "iothread:NAME", "vhost", "emulator". `cgroup`: libvirt's below the VM's: "vcpu3",
// "iothread1", "emulator", which includes vhost's workers.
std::string vm_part_of_cgroup(std::string_view cgroup);

// `comm`: as QEMU calls its threads where it is told to (-name debug-threads=on): "CPU 3/KVM", "CPU 3/TCG",
// "IO NAME"; the kernel's "vhost-PID"; all others are the emulator's. Escaped.
std::string vm_part_of_thread(std::string_view comm);

bool is_vcpu(std::string_view part);

// An order for people: vcpu2 before vcpu10.
struct PartOrder {
  bool operator()(std::string_view a, std::string_view b) const;
};

}  // namespace keplerd
