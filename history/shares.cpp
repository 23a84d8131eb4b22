// SPDX-License-Identifier: Apache-2.0
#include "history/shares.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace keplerd::history {
namespace {

constexpr std::string_view kSlice = ".slice";

struct ByInfo {
  By by{};
  std::string_view name;
  Kind kind{};
};
constexpr std::array<ByInfo, 7> kBys = {{{By::kUnit, "unit", Kind::kUnits},
                                         {By::kSlice, "slice", Kind::kUnits},
                                         {By::kUser, "user", Kind::kUnits},
                                         {By::kVm, "vm", Kind::kVms},
                                         {By::kContainer, "container", Kind::kContainers},
                                         {By::kPod, "pod", Kind::kPods},
                                         {By::kProject, "project", Kind::kVms}}};

// "/a.slice/b.service" is inside "/a.slice", and "OUTER/ID" inside "OUTER".
std::optional<std::string> outer_id(std::string_view id) {
  const auto end = id.rfind('/');
  if (end == id.npos || end == 0) return std::nullopt;
  return std::string(id.substr(0, end));
}

// Takes from each workload what is nested in it. A container may be moved between two others; what it drew in
// the one that it left is not taken from there.
std::vector<WorkloadEnergy> without_nested(std::vector<WorkloadEnergy> workloads) {
  std::map<std::string, std::size_t> by_id;
  for (std::size_t i = 0; i < workloads.size(); ++i) by_id.emplace(workloads[i].key.id, i);
  std::vector<WorkloadEnergy> nested(workloads.size());
  for (const WorkloadEnergy& workload : workloads) {
    for (auto id = outer_id(workload.key.id); id; id = outer_id(*id)) {
      const auto outer = by_id.find(*id);
      if (outer == by_id.end()) continue;
      nested[outer->second].amounts += workload.amounts;
      nested[outer->second].rated += workload.rated;
      break;
    }
  }
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    auto& [active, idle] = workloads[i].amounts;
    active = std::max(active - nested[i].amounts.active, Microjoules{0});
    idle = std::max(idle - nested[i].amounts.idle, Microjoules{0});
    auto& [price, carbon] = workloads[i].rated;
    price = std::max(price - nested[i].rated.price, RatedEnergy{0});
    carbon = std::max(carbon - nested[i].rated.carbon, RatedEnergy{0});
  }
  return workloads;
}

// The slice that it is, or is in: "/a.slice/a-b.slice".
std::string slice_of(const std::string& unit) {
  for (std::optional<std::string> id = unit; id; id = outer_id(*id)) {
    if (id->ends_with(kSlice)) return *id;
  }
  return "/-.slice";  // the root slice has no cgroup of its own
}

Share share_of(By by, const WorkloadEnergy& workload) {
  Share share{.owner = workload.key.owner};
  if (by == By::kUser) {
    share.id = workload.key.owner ? std::to_string(*workload.key.owner) : "unknown";
  } else if (by == By::kSlice) {
    share.id = slice_of(workload.key.id);
    share.name = share.id.substr(share.id.rfind('/') + 1);
  } else if (by == By::kProject) {
    share.id = workload.project.id;
    if (workload.project.name != share.id) share.name = workload.project.name;
  } else {
    share.id = workload.key.id;
    share.name = workload.name;
  }
  return share;
}

}  // namespace

std::string_view name_of(By by) { return std::ranges::find(kBys, by, &ByInfo::by)->name; }

std::optional<By> parse_by(std::string_view name) {
  const auto found = std::ranges::find(kBys, name, &ByInfo::name);
  if (found == kBys.end()) return std::nullopt;
  return found->by;
}

Kind kind_of(By by) { return std::ranges::find(kBys, by, &ByInfo::by)->kind; }

std::vector<Share> shares_of(By by, const std::vector<WorkloadEnergy>& workloads) {
  std::map<std::pair<std::string, std::optional<uid_t>>, Share> found;
  for (const WorkloadEnergy& workload : without_nested(workloads)) {
    if (workload.amounts == Amounts{}) continue;
    if (by == By::kProject && workload.project.id.empty()) continue;
    Share share = share_of(by, workload);
    // Units of several users may be in one slice; projects are those of the system.
    if (by == By::kSlice || by == By::kProject) share.owner.reset();
    auto key = std::pair(share.id, share.owner);
    Share& whole = found.try_emplace(std::move(key), std::move(share)).first->second;
    whole.amounts += workload.amounts;
    whole.rated += workload.rated;
  }
  std::vector<Share> shares;
  for (auto& [key, share] : found) shares.push_back(std::move(share));
  std::ranges::stable_sort(shares, std::greater(), [](const Share& share) { return share.amounts.energy(); });
  return shares;
}

}  // namespace keplerd::history
