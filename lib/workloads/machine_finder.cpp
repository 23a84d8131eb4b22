// SPDX-License-Identifier: Apache-2.0
#include "workloads/machine_finder.h"

#include <array>
#include <string>

#include "host/host_root.h"

namespace keplerd {
namespace {

// More than QEMU's longest: some 200 bytes a device. What is beyond is not looked at.
constexpr std::size_t kCommandLineLimit = 1 << 20;
constexpr int kLooks = 10;
constexpr std::size_t kMaxDoubtful = 1000;

}  // namespace

std::vector<FoundMachine> MachineFinder::look(const UsageSample& usage) {
  std::vector<FoundMachine> found;
  for (std::size_t i = 0; i < usage.processes.size(); ++i) {
    const ProcessUsage& process = usage.processes[i];
    if (process.kernel_thread) continue;
    if (!process.fresh && (doubtful_.empty() || !doubtful_.contains(process.id))) continue;
    if (auto command = look_at(process)) found.push_back({i, *std::move(command)});
  }
  for (const ProcessId id : usage.ended) doubtful_.erase(id);
  return found;
}

std::optional<MachineCommand> MachineFinder::look_at(const ProcessUsage& process) {
  const std::string directory = std::to_string(process.id.pid) + "/";
  std::array<char, 4096> beginning;
  const auto line = read_beginning(host_.procfs(), (directory + "cmdline").c_str(), beginning);
  if (!line) return std::nullopt;
  std::vector<std::string_view> words = split_command_line(*line);
  if (!is_named_like_a_hypervisor({words, process.comm, {}})) {
    doubtful_.erase(process.id);
    return std::nullopt;
  }

  std::string whole;
  if (line->size() == beginning.size()) {
    whole.resize(kCommandLineLimit);
    const auto text = read_beginning(host_.procfs(), (directory + "cmdline").c_str(), whole);
    if (text) words = split_command_line(*text);
  }
  const auto program = read_link(host_.procfs(), (directory + "exe").c_str());
  auto command = recognise_machine({words, process.comm, program ? *program : std::string_view()});
  if (command) {
    doubtful_.erase(process.id);
  } else if (doubtful_.size() < kMaxDoubtful) {
    const auto entry = doubtful_.try_emplace(process.id, kLooks).first;
    if (--entry->second == 0) doubtful_.erase(entry);
  }
  return command;
}

}  // namespace keplerd
