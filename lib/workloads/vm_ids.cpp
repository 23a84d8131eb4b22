// SPDX-License-Identifier: Apache-2.0
#include "workloads/vm_ids.h"

#include <algorithm>
#include <array>
#include <utility>

namespace keplerd {
namespace {

constexpr std::array<std::pair<std::string_view, VmEvidence>, 4> kNames = {
    {{"guess", VmEvidence::kGuess},
     {"command-line", VmEvidence::kCommandLine},
     {"scope", VmEvidence::kScope},
     {"record", VmEvidence::kRecord}}};

}  // namespace

std::string_view vm_evidence_name(VmEvidence evidence) {
  return std::ranges::find(kNames, evidence, &std::pair<std::string_view, VmEvidence>::second)->first;
}

std::optional<VmEvidence> parse_vm_evidence(std::string_view name) {
  const auto known = std::ranges::find(kNames, name, &std::pair<std::string_view, VmEvidence>::first);
  return known == kNames.end() ? std::nullopt : std::optional(known->second);
}

void VmIds::bind(const std::string& id, Uid owner, VmEvidence evidence) {
  Binding& binding = bindings_[id];
  binding = {owner, std::max(binding.evidence, evidence)};
}

void VmIds::erase(std::string_view id) {
  if (const auto known = bindings_.find(id); known != bindings_.end()) bindings_.erase(known);
}

bool VmIds::is_anothers(std::string_view id, Uid owner) const {
  const auto known = bindings_.find(id);
  return known != bindings_.end() && known->second.owner != owner;
}

bool VmIds::has_better(std::string_view id, VmEvidence evidence) const {
  const auto known = bindings_.find(id);
  return known != bindings_.end() && std::min(known->second.evidence, VmEvidence::kScope) > evidence;
}

VmEvidence VmIds::evidence(std::string_view id) const {
  const auto known = bindings_.find(id);
  return known == bindings_.end() ? VmEvidence::kGuess : known->second.evidence;
}

std::string VmIds::free_for(Uid owner, std::string id) const {
  return free_id(owner, std::move(id), [&](const auto& other) { return is_anothers(other, owner); });
}

std::string VmIds::rename(const std::string& id) {
  auto node = bindings_.extract(id);
  const auto is_taken = [&](const auto& other) { return other == id || bindings_.contains(other); };
  node.key() = free_id(node.mapped().owner, id, is_taken);
  return bindings_.insert(std::move(node)).position->first;
}

}  // namespace keplerd
