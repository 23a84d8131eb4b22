// SPDX-License-Identifier: Apache-2.0
// Reads from /proc/cpuinfo what matters for the processor's energy counters.
#pragma once

#include <string_view>

#include "energy/zone.h"

namespace keplerd {

class HostRoot;

struct Processor {
  bool x86 = false;              // it has a vendor
  bool amd = false;              // AMD or Hygon
  bool virtual_machine = false;  // runs under a hypervisor
  bool sgx = false;              // Intel's enclaves are enabled, so its energy counters are filtered
};

// `cpuinfo`: the text of /proc/cpuinfo, or at least its first processor. What it does not say (ARM) is false.
Processor parse_processor(std::string_view cpuinfo);
Processor read_processor(const HostRoot& host);

// Sets the quality of the processor's own energy counters. AMD's are a model. With SGX enabled, Intel's are
// filtered: noise is added, so that they do not reveal what an enclave computes (INTEL-SA-00389). The filter
// may also be enabled by MSR 0xBC, which only root with /dev/cpu/*/msr can read: keplerd cannot.
void set_quality(Zone& zone, const Processor& processor);

}  // namespace keplerd
