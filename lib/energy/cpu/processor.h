// SPDX-License-Identifier: Apache-2.0
// What /proc/cpuinfo tells of the processor, as far as its energy counters are concerned.
#pragma once

#include <string_view>

#include "energy/zone.h"

namespace keplerd {

class HostRoot;

struct Processor {
  bool x86 = false;              // it tells a vendor
  bool amd = false;              // AMD or Hygon
  bool virtual_machine = false;  // runs under a hypervisor
  bool sgx = false;              // Intel's enclaves are on, and so its energy counters are filtered
};

// `cpuinfo`: the text of /proc/cpuinfo, or at least its first processor. What is not there (ARM) is false.
Processor parse_processor(std::string_view cpuinfo);
Processor read_processor(const HostRoot& host);

// Sets what the processor's own energy counters are worth. AMD's are a model. Where SGX is on, Intel's are
// filtered: noise is added, so that nobody can tell from them what an enclave computes (INTEL-SA-00389). The
// filter may also be on by MSR 0xBC, which only root with /dev/cpu/*/msr can see: keplerd cannot.
void set_quality(Zone& zone, const Processor& processor);

}  // namespace keplerd
