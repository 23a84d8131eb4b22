// SPDX-License-Identifier: Apache-2.0
#include "workloads/owner.h"

#include "workloads/identifier.h"

namespace keplerd {
namespace {

constexpr Uid kFirstOrdinary = 1000;
constexpr Uid kFirstDynamic = 61184, kLastDynamic = 65519;
constexpr std::string_view kPrefix = "user-";

bool reads_like_a_user(std::string_view name) {
  return name.starts_with(kPrefix) && is_digits(name.substr(kPrefix.size()));
}

}  // namespace

bool is_ordinary_user(Uid user) {
  const bool dynamic = user >= kFirstDynamic && user <= kLastDynamic;
  return user >= kFirstOrdinary && !dynamic && user != kNobodyUser;
}

Uid claiming_user(std::optional<Uid> effective, std::optional<Uid> real) {
  const Uid acts_as = effective.value_or(kNobodyUser);
  return !is_ordinary_user(acts_as) && real && is_ordinary_user(*real) ? *real : acts_as;
}

std::string claimed_id(const Claimant& claimant, std::string_view name) {
  if (!claimant.container.empty()) return claimant.container + "/" + std::string(name);
  const bool is_bare = !is_ordinary_user(claimant.owner);
  if (is_bare && !reads_like_a_user(name)) return std::string(name);
  return disambiguated_id(is_bare ? kRootUser : claimant.owner, name);
}

std::string disambiguated_id(Uid owner, std::string_view id) {
  return std::string(kPrefix) + std::to_string(owner) + "/" + std::string(id);
}

}  // namespace keplerd
