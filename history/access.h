// SPDX-License-Identifier: Apache-2.0
// Who sees what of the history: root, the user it runs as and the group keplerd everything, others their own
// workloads.
#pragma once

#include <optional>
#include <span>

#include <sys/types.h>

namespace keplerd::history {

struct Viewer {
  bool full = false;
  uid_t user = static_cast<uid_t>(-1);

  // Whose workloads are shown; unset: everyone's.
  std::optional<uid_t> owner() const { return full ? std::nullopt : std::optional(user); }
};

// `own`: the user of this process. `group`: the group keplerd; unset: there is none. A user id that systemd
// assigns to one service after another (DynamicUser=) owns nothing.
struct Access {
  uid_t own = static_cast<uid_t>(-1);
  std::optional<gid_t> group;

  Viewer identify(uid_t user, std::span<const gid_t> groups) const;
};

}  // namespace keplerd::history
