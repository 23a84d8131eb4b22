// SPDX-License-Identifier: Apache-2.0
// What processors of a family typically draw, for hosts without any meter: from the thermal design power that
// the vendor publishes for its models, and from the ratio of idle to full power that is usual in SPECpower
// results. It is the power of the processors alone. Models of the same family, and hosts with the same model,
// differ by 40 % and more.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"

namespace keplerd {

class HostRoot;

// From the first processor of /proc/cpuinfo (proc_cpuinfo(5); arch/x86/kernel/cpu/proc.c and
// arch/arm64/kernel/cpuinfo.c of the kernel). 0, empty: not there.
struct ProcessorIdentity {
  std::string_view vendor;        // "GenuineIntel"; empty on ARM
  std::string_view name;          // "model name"
  int family = 0, model = 0;      // x86
  int implementer = 0, part = 0;  // ARM
  int package_threads = 0;        // logical CPUs of a package
  int package_cores = 0;          // and how many cores these are
  bool virtual_machine = false;   // x86; ARM does not show it
};
ProcessorIdentity parse_processor_identity(std::string_view cpuinfo);

struct TypicalPower {
  std::string_view processors;  // "Intel Ice Lake-SP"
  int cores = 0;                // of all packages
  Microwatts idle, max;         // of all packages together; idle < max
};

// `threads`: logical CPUs online. In a virtual machine, a package's power is divided by its cores, because
// the machine has some of these only. Nothing: the family is not in the table.
std::optional<TypicalPower> typical_power(const ProcessorIdentity& processor, int threads);

// Of this host.
std::optional<TypicalPower> read_typical_power(const HostRoot& host);

}  // namespace keplerd
