// SPDX-License-Identifier: Apache-2.0
// The claims in random_identity_test.cpp, from that test's own model and not as keplerd sees them.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/vm_host.h"
#include "workloads/owner.h"

namespace keplerd {

inline constexpr Uid kInBox = 101'000, kRootless = 100'500;  // both are alice's by /etc/subuid
inline const std::vector<Uid> kUsers = {1000, 1001};

inline std::string hex(int n) { return std::string(64, static_cast<char>('a' + n)); }

// A party that may create workloads: a user, a system service, or what runs in a container of
// root's.
struct Party {
  Uid user = 0;       // which it runs as
  Uid owner = 0;      // the owner of that
  std::string base;   // the cgroup that belongs to the party
  std::string front;  // of the ids that it claims
};

// The ids of what encloses a cgroup, according to the model.
inline std::set<std::string> claims_of(const std::vector<Party>& parties, const std::string& group) {
  std::string container, rest = group, front;
  std::set<std::string> ids;
  for (const Party& party : parties) {
    if (!group.starts_with(party.base)) continue;
    rest = group.substr(party.base.size());
    front = party.front;
    if (party.user == kInBox) ids.insert("secret-box");
  }
  for (std::size_t at = rest.find('/'); at != rest.npos; at = rest.find('/', at + 1)) {
    std::string_view name = std::string_view(rest).substr(at + 1);
    name = name.substr(0, name.find('/'));
    if (name.starts_with("kubepods-pod")) ids.insert(front + std::string(name.substr(12, 1)));
    const bool is_container = name.starts_with("docker-") || name.starts_with("libpod-conmon-");
    const std::string id(is_container ? name.substr(name.size() - 64 - 6, 64) : "");
    if (id.empty() || container.ends_with(id)) continue;
    container = (container.empty() ? front : container + "/") + id;
    ids.insert(container);
  }
  return ids;
}

inline Uid claimant(const std::string& id) {
  for (const Uid user : kUsers)
    if (id.starts_with("user-" + std::to_string(user) + "/")) return user;
  return 0;
}

// The party that owns a cgroup: everything below a party's cgroup is that party's.
inline Uid user_of(const std::vector<Party>& parties, const std::string& path) {
  for (const Party& party : parties) {
    const bool is_slices = path == "/user.slice/user-" + std::to_string(party.owner) + ".slice";
    const bool is_users = party.base.starts_with("/user.slice");
    if (path.starts_with(party.base + "/") || (is_users && (path == party.base || is_slices)))
      return party.owner;
  }
  return 0;
}

inline bool is_user(Uid user) { return std::ranges::find(kUsers, user) != kUsers.end(); }

inline std::string helper() { return command({"swtpm", "socket", std::string("dir=/x/") + kUuid + "/tpm2"}); }

inline std::string record(const std::string& name, const std::string& uuid, pid_t pid) {
  return "<domstatus state='running' pid='" + std::to_string(pid) + "'><domain><name>" + name +
         "</name><uuid>" + uuid + "</uuid></domain></domstatus>";
}

}  // namespace keplerd
