// SPDX-License-Identifier: Apache-2.0
// What /proc/cpuinfo tells of the processor, as far as its energy counters are concerned.
#pragma once

#include <string_view>

namespace keplerd {

class HostRoot;

struct Processor {
  bool amd = false;              // AMD or Hygon
  bool virtual_machine = false;  // runs under a hypervisor
};

// `cpuinfo`: the text of /proc/cpuinfo, or at least its first processor. What is not there (ARM) is false.
Processor parse_processor(std::string_view cpuinfo);
Processor read_processor(const HostRoot& host);

}  // namespace keplerd
