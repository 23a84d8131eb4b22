// SPDX-License-Identifier: Apache-2.0
#include "energy/cpu/processor.h"

#include <array>

#include "base/parse.h"
#include "host/host_root.h"

namespace keplerd {
namespace {

// More than one processor's section, which is 1.5 to 2 KiB.
constexpr std::size_t kFirstProcessorSize = 8192;

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
  while (!cpuinfo.empty()) {
    auto line = take_until(cpuinfo, '\n');
    if (line.empty()) break;
    const auto key = trim(take_until(line, ':'));
    if (key == "vendor_id") {
      processor.x86 = true;
      processor.amd = trim(line) == "AuthenticAMD" || trim(line) == "HygonGenuine";
    }
    if (key == "flags") {
      processor.virtual_machine = has_word(line, "hypervisor");
      processor.sgx = has_word(line, "sgx");  // the kernel clears it if the firmware has SGX off
    }
  }
  return processor;
}

Processor read_processor(const HostRoot& host) {
  std::array<char, kFirstProcessorSize> buffer{};
  const auto cpuinfo = read_beginning(host.procfs(), "cpuinfo", buffer);
  return cpuinfo ? parse_processor(*cpuinfo) : Processor{};
}

void set_quality(Zone& zone, const Processor& processor) {
  zone.quality = processor.amd || processor.sgx ? Quality::kModelled : Quality::kMeasured;
  if (processor.sgx && !processor.amd) {
    zone.quality_reason = "energy counters are filtered because SGX is enabled: noise is added to them";
  }
}

}  // namespace keplerd
