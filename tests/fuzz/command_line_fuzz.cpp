// SPDX-License-Identifier: Apache-2.0
// Whatever a process's command line contains, the result is printable, and its words are parts of the
// text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/text.h"
#include "workloads/command_line.h"
#include "workloads/identifier.h"

namespace {

bool is_printable(std::string text) {
  std::erase(text, '\\');
  return keplerd::is_plain_name(text);
}

void check(const std::optional<keplerd::VmCommand>& vm) {
  if (!vm) return;
  if (!is_printable(vm->name)) std::abort();
  if (!vm->uuid.empty() && keplerd::canonical_uuid(vm->uuid) != vm->uuid) std::abort();
  if (!vm->number.empty() && !keplerd::is_digits(vm->number)) std::abort();
  if (vm->name_given && vm->name.empty()) std::abort();
  if (vm->size.vcpus && (*vm->size.vcpus < 1 || *vm->size.vcpus > keplerd::kMostVcpus)) std::abort();
  if (vm->size.memory && *vm->size.memory <= 0) std::abort();
  if (vm->cpu_sockets < 1 || vm->cpu_sockets > 64) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto words = keplerd::split_command_line(text);
  std::size_t length = 0;
  for (const std::string_view word : words) length += word.size() + 1;
  if (length > size + 1 || words.size() > keplerd::kMaxCommandLineWords) std::abort();
  check(keplerd::recognise_vm({.words = words}));
  for (const char* program :
       {"qemu-system-x86_64", "VBoxHeadless", "vmware-vmx", "firecracker", "cloud-hypervisor", "lkvm"})
    check(keplerd::recognise_vm({.words = words, .program = program}));
  return 0;
}
