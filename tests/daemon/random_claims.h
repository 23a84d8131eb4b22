// SPDX-License-Identifier: Apache-2.0
// Who claims what in random_identity_test.cpp, by what that test has made up and not by how keplerd sees it.
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

// Who may make what where: a user, a service of the system's, or what runs in a container of root's.
struct Party {
  Uid user = 0;       // as whom it runs
  Uid owner = 0;      // whose that is
  std::string base;   // the cgroup that is theirs
  std::string front;  // of the ids that they claim
};

// The ids of what a cgroup is inside of, by what has just been made up.
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

// Of a cgroup: what is below a party's is that party's.
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
