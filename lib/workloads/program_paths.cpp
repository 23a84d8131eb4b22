// SPDX-License-Identifier: Apache-2.0
#include "workloads/program_paths.h"

#include "base/text.h"
#include "host/host_root.h"
#include "host/kept_file.h"

namespace keplerd {
namespace {

constexpr std::size_t kLongest = 255;

std::shared_ptr<const std::string> read_path(const HostRoot& host, ProcessId process) {
  const auto path = read_link(host.procfs(), (std::to_string(process.pid) + "/exe").c_str());
  if (!path || path->size() > kLongest) return nullptr;
  return std::make_shared<const std::string>(escape_name(*path));
}

}  // namespace

std::vector<FoundProgram> find_programs(const HostRoot& host, const UsageSample& usage) {
  std::vector<FoundProgram> found;
  for (const ProcessUsage& process : usage.processes) {
    if (process.fresh && !process.kernel_thread) found.push_back({process.id, read_path(host, process.id)});
  }
  return found;
}

}  // namespace keplerd
