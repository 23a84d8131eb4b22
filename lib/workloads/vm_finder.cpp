// SPDX-License-Identifier: Apache-2.0
#include "workloads/vm_finder.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "host/host_root.h"
#include "usage/process_user.h"

namespace keplerd {
namespace {

// More than QEMU's longest: some 200 bytes per device. The rest is ignored.
constexpr std::size_t kCommandLineLimit = 1 << 20;
constexpr int kLooks = 10;
constexpr std::size_t kMaxDoubtful = 1000;

}  // namespace

FoundVms VmFinder::scan(const UsageSample& usage) {
  FoundVms found;
  for (std::size_t i = 0; i < usage.processes.size(); ++i) {
    const ProcessUsage& process = usage.processes[i];
    if (process.kernel_thread) continue;
    if (!process.fresh && (doubtful_.empty() || !doubtful_.contains(process.id))) continue;
    examine(usage, i, found);
  }
  for (const ProcessId id : usage.ended) doubtful_.erase(id);
  // If two claim the same VM, the older one gets it, in whatever order directories list them.
  std::ranges::sort(found.vms, {}, [&usage](const FoundVm& vm) {
    const ProcessId id = usage.processes[vm.process].id;
    return std::pair(id.start, id.pid);
  });
  return found;
}

void VmFinder::examine(const UsageSample& usage, std::size_t index, FoundVms& found) {
  const ProcessUsage& process = usage.processes[index];
  const std::string path = std::to_string(process.id.pid) + "/cmdline";
  std::array<char, 4096> buffer;
  const auto beginning = read_beginning(host_.procfs(), path.c_str(), buffer);
  if (!beginning) return;
  const std::vector<std::string_view> words = split_command_line(*beginning);
  if (is_named_like_a_hypervisor({words, process.comm, {}})) {
    auto command = read_command(process, *beginning, beginning->size() < buffer.size());
    if (command && is_still_its_users(process)) found.vms.push_back({index, *std::move(command)});
    return;
  }
  doubtful_.erase(process.id);
  auto helper = recognise_helper({words, process.comm, {}});
  if (helper && is_still_its_users(process)) found.helpers.push_back({index, *std::move(helper)});
}

// A command line is a claim by the user who wrote it. The process may have changed its user since it was
// read, or its pid may have been reused: it is then doubtful until its user is known again.
bool VmFinder::is_still_its_users(const ProcessUsage& process) {
  ProcessUser now;
  now.refresh(host_, process.id.pid, true);
  if (now.effective() == process.user && now.real() == process.real_user) return true;
  if (doubtful_.size() < kMaxDoubtful) doubtful_.try_emplace(process.id, kLooks);
  return false;
}

// Examines a process named like a hypervisor, given the `beginning` of its command line.
std::optional<VmCommand> VmFinder::read_command(const ProcessUsage& process, std::string_view beginning,
                                                bool is_whole) {
  const std::string directory = std::to_string(process.id.pid) + "/";
  std::string whole;
  if (!is_whole) {
    whole.resize(kCommandLineLimit);
    const auto text = read_beginning(host_.procfs(), (directory + "cmdline").c_str(), whole);
    if (text) beginning = *text;
  }
  const auto program = read_link(host_.procfs(), (directory + "exe").c_str());
  auto command =
      recognise_vm({split_command_line(beginning), process.comm, program ? *program : std::string_view()});
  if (command) {
    doubtful_.erase(process.id);
  } else if (doubtful_.size() < kMaxDoubtful) {
    const auto entry = doubtful_.try_emplace(process.id, kLooks).first;
    if (--entry->second == 0) doubtful_.erase(entry);
  }
  return command;
}

}  // namespace keplerd
