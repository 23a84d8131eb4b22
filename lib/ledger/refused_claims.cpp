// SPDX-License-Identifier: Apache-2.0
#include "ledger/refused_claims.h"

#include <algorithm>
#include <iterator>

namespace keplerd {
namespace {

constexpr std::size_t kMostClaims = 100;

// The id of the outermost container of root's: claimants inside cannot create another one.
std::string outermost_of_roots(const Claimant& claimant) {
  if (claimant.owner != kRootUser) return {};
  return claimant.container.substr(0, claimant.container.find('/'));
}

}  // namespace

void RefusedClaims::add(std::string kind, std::string id, const Claimant& claimant, Realtime at) {
  std::string container = outermost_of_roots(claimant);
  auto entry = std::ranges::find_if(claims_, [&](const RefusedClaim& claim) {
    return claim.kind == kind && claim.owner == claimant.owner && claim.container == container;
  });
  if (entry == claims_.end()) {
    if (claims_.size() >= kMostClaims)
      claims_.erase(std::ranges::min_element(claims_, {}, &RefusedClaim::at));
    claims_.push_back({.at = {},
                       .kind = std::move(kind),
                       .id = {},
                       .owner = claimant.owner,
                       .container = std::move(container)});
    entry = std::prev(claims_.end());
  }
  entry->at = at;
  entry->id = std::move(id);
  ++entry->count;
}

std::vector<RefusedClaim> RefusedClaims::take_changed() {
  std::vector<RefusedClaim> changed;
  std::ranges::copy_if(claims_, std::back_inserter(changed),
                       [this](const RefusedClaim& claim) { return claim.at > taken_; });
  for (const RefusedClaim& claim : changed) taken_ = std::max(taken_, claim.at);
  return changed;
}

std::shared_ptr<const std::vector<RefusedClaim>> RefusedClaims::all() const {
  return claims_.empty() ? nullptr : std::make_shared<const std::vector<RefusedClaim>>(claims_);
}

}  // namespace keplerd
