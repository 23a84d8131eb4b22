// SPDX-License-Identifier: Apache-2.0
// Whatever a cgroup's name is, the result is printable, and its enclosing workloads are consistent with it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/text.h"
#include "workloads/cgroup_workload.h"

namespace {

// Ignoring our own escapes, some of which escape_name would escape again.
bool is_printable(std::string text) {
  std::erase(text, '\\');
  return keplerd::is_plain_name(text);
}

void check(const keplerd::CgroupWorkload& workload) {
  for (const auto& text : {workload.name, workload.id, workload.pod, workload.vm_number, workload.group.name})
    if (!is_printable(text)) std::abort();
  using Kind = keplerd::CgroupKind;
  const bool has_id = workload.kind == Kind::kContainer || workload.kind == Kind::kPod;
  if (has_id == workload.id.empty() || has_id == workload.runtime.empty()) std::abort();
  if ((workload.kind == Kind::kVirtualMachine) != workload.hypervisor.has_value()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string path = keplerd::escape_name({reinterpret_cast<const char*>(data), size});
  const keplerd::CgroupWorkload here = keplerd::recognise_cgroup(path);
  check(here);
  const auto chain = keplerd::enclosing_workloads(path);
  for (const auto& entry : chain) {
    check(entry.workload);
    if (path.find(entry.path) == path.npos) std::abort();
    const keplerd::CgroupWorkload again = keplerd::recognise_cgroup(entry.path);
    if (again.kind != entry.workload.kind || again.id != entry.workload.id) std::abort();
  }
  using Kind = keplerd::CgroupKind;
  const bool is_workload = here.kind != Kind::kGroup && here.kind != Kind::kUnit;
  if (is_workload && (chain.empty() || chain.back().workload.id != here.id)) std::abort();
  return 0;
}
