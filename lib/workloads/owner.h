// SPDX-License-Identifier: Apache-2.0
// Determines who owns a workload. The name of a cgroup or a process is a claim by the user who could choose
// it: an id claimed by one user never refers to a workload of root's or another user's, whatever it is. Pure.
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

// Whether this is a person's user id, or of unknown purpose: not root, not the system's (below 1000), not a
// DynamicUser's (61184 to 65519), not nobody's.
bool is_ordinary_user(Uid user);

// The user whose claims a process makes. A set-user-ID program acts on behalf of the user who started it: of
// the two, the ordinary user counts. Unset: unknown.
Uid claiming_user(std::optional<Uid> effective, std::optional<Uid> real);

// Who claims an id, and inside which container.
struct Claimant {
  std::string container;  // id of the innermost container around it; empty outside any
  Uid owner = kRootUser;

  bool operator==(const Claimant&) const = default;
};

// The id under which `claimant` claims `name`: "OUTER/NAME" inside a container, "user-UID/NAME" for an
// ordinary user, else NAME itself. A NAME of root's that looks like a user's id becomes "user-0/NAME".
std::string claimed_id(const Claimant& claimant, std::string_view name);

// The id used if that one is bound to another owner: "user-UID/ID", for any claimant.
std::string disambiguated_id(Uid owner, std::string_view id);

// `id`, prefixed with its owner until it is free.
template <class IsTaken>
std::string free_id(Uid owner, std::string id, IsTaken is_taken) {
  while (is_taken(id)) id = disambiguated_id(owner, id);
  return id;
}

}  // namespace keplerd
