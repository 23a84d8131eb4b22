// SPDX-License-Identifier: Apache-2.0
#include "history/store/labels.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include "client/kinds.h"

namespace keplerd::history {
namespace {

// Of a host with more workloads than that, some are looked up again and again.
constexpr std::size_t kMostKept = 200'000;

bool is_selected(const WorkloadKey& key, const Selection& selection) {
  return key.kind == selection.kind && (!selection.id || key.id == *selection.id) &&
         (!selection.owner || key.owner == selection.owner);
}

}  // namespace

const Label* Labels::find(std::int64_t workload, std::uint64_t version) {
  if (version != version_ || known_.size() >= kMostKept) known_.clear();
  version_ = version;
  const auto [found, is_new] = known_.try_emplace(workload);
  std::optional<Label>& label = found->second;
  if (is_new) {
    if (!query_)
      query_.emplace(database_.prepare(
          "SELECT kind, id, owner, name, project_id, project FROM workloads WHERE number = ?1"));
    query_->bind(workload);
    if (query_->step()) {
      label = Label{key_of(*query_, 0), query_->text(3), {query_->text(4), query_->text(5)}};
      query_->reset();
    }
  }
  return label ? &*label : nullptr;
}

std::vector<WorkloadEnergy> select(const std::vector<PeriodSum::Sum>& sums, const Selection& selection,
                                   const std::function<const Label*(std::int64_t workload)>& find) {
  std::vector<WorkloadEnergy> selected;
  for (const PeriodSum::Sum& sum : sums) {
    const Label* const label = find(sum.workload);
    if (label == nullptr || !is_selected(label->key, selection)) continue;
    selected.push_back({label->key, label->name, sum.amounts, sum.rated, label->project});
  }
  std::ranges::sort(selected, {},
                    [](const WorkloadEnergy& one) { return std::tie(one.key.id, one.key.owner); });
  return selected;
}

}  // namespace keplerd::history
