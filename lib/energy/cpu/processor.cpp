// SPDX-License-Identifier: Apache-2.0
#include "energy/cpu/processor.h"

#include "base/parse.h"
#include "host/cpuinfo.h"

namespace keplerd {
namespace {

bool has_word(std::string_view words, std::string_view wanted) {
  while (true) {
    const auto word = take_word(words);
    if (word.empty()) return false;
    if (word == wanted) return true;
  }
}

}  // namespace

Processor parse_processor(std::string_view cpuinfo) {
  Processor processor;
  const auto vendor = cpuinfo_field(cpuinfo, "vendor_id");
  processor.x86 = vendor.has_value();
  processor.amd = vendor && is_amd(*vendor);
  const std::string_view flags = cpuinfo_field(cpuinfo, "flags").value_or("");
  processor.virtual_machine = has_word(flags, "hypervisor");
  processor.sgx = has_word(flags, "sgx");  // the kernel clears it if the firmware has SGX off
  return processor;
}

Processor read_processor(const HostRoot& host) { return parse_processor(read_cpuinfo(host)); }

void set_quality(Zone& zone, const Processor& processor) {
  zone.quality = processor.amd || processor.sgx ? Quality::kModelled : Quality::kMeasured;
  if (processor.sgx && !processor.amd) {
    zone.quality_reason = "energy counters are filtered because SGX is enabled: noise is added to them";
  }
}

}  // namespace keplerd
