// SPDX-License-Identifier: Apache-2.0
// Whose a workload is. What a cgroup or a process is called is the claim of whoever could call it so: an id
// that a user claims is never that of root's or another user's workload, whatever it is. Pure.
//
// Source of the ranges: systemd's "Users, Groups, UIDs and GIDs on systemd Systems" (UIDS-GIDS.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace keplerd {

using Uid = std::uint32_t;

inline constexpr Uid kRootUser = 0;
inline constexpr Uid kNobodyUser = 65534;

// Whether this is a person's, or nobody knows whose: not root, not the system's (below 1000), not a
// DynamicUser's (61184 to 65519), not nobody's.
bool is_ordinary_user(Uid user);

// Whose claims a process makes. A set-user-ID program acts for the user who has started it: of both, the
// ordinary user. Unset: not known.
Uid claiming_user(std::optional<Uid> effective, std::optional<Uid> real);

// Who claims an id, and inside of what.
struct Claimant {
  std::string container;  // id of the innermost container around; empty outside any
  Uid owner = kRootUser;

  bool operator==(const Claimant&) const = default;
};

// The id of what `claimant` calls `name`: "OUTER/NAME" inside a container, "user-UID/NAME" of an ordinary
// user, else NAME itself. A NAME of root's that reads like the front of a user's ids is "user-0/NAME".
std::string claimed_id(const Claimant& claimant, std::string_view name);

// Where that id is bound to another owner: "user-UID/ID", whoever the claimant is.
std::string disambiguated_id(Uid owner, std::string_view id);

// `id`, with its owner in front until it is not taken.
template <class IsTaken>
std::string free_id(Uid owner, std::string id, IsTaken is_taken) {
  while (is_taken(id)) id = disambiguated_id(owner, id);
  return id;
}

}  // namespace keplerd
