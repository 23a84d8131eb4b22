// SPDX-License-Identifier: Apache-2.0
#include "history/access.h"

#include <algorithm>

namespace keplerd::history {
namespace {

// systemd's range (UIDS-GIDS.md).
constexpr uid_t kFirstDynamic = 61184, kLastDynamic = 65519;

}  // namespace

Viewer Access::identify(uid_t user, std::span<const gid_t> groups) const {
  const bool is_member = group && std::ranges::find(groups, *group) != groups.end();
  if (user == 0 || user == own || is_member) return {.full = true, .user = user};
  if (user >= kFirstDynamic && user <= kLastDynamic) return {};
  return {.user = user};
}

}  // namespace keplerd::history
