// SPDX-License-Identifier: Apache-2.0
// Whatever a process has in its command line, what is told of it is printable, and its words are the text's
// own.
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

void check(const std::optional<keplerd::MachineCommand>& machine) {
  if (!machine) return;
  if (!is_printable(machine->name)) std::abort();
  if (!machine->uuid.empty() && keplerd::canonical_uuid(machine->uuid) != machine->uuid) std::abort();
  if (!machine->number.empty() && !keplerd::is_digits(machine->number)) std::abort();
  if (machine->name_given && machine->name.empty()) std::abort();
  if (machine->cpu_sockets < 1 || machine->cpu_sockets > 64) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto words = keplerd::split_command_line(text);
  std::size_t length = 0;
  for (const std::string_view word : words) length += word.size() + 1;
  if (length > size + 1 || words.size() > keplerd::kMaxCommandLineWords) std::abort();
  check(keplerd::recognise_machine({.words = words}));
  for (const char* program :
       {"qemu-system-x86_64", "VBoxHeadless", "vmware-vmx", "firecracker", "cloud-hypervisor", "lkvm"})
    check(keplerd::recognise_machine({.words = words, .program = program}));
  return 0;
}
