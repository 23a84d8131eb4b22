// SPDX-License-Identifier: Apache-2.0
// Maps subordinate user ids to logins, by /etc/subuid (subuid(5)): what runs in a user's own user namespace
// belongs to that user.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "host/regular_file.h"
#include "workloads/name_sources.h"
#include "workloads/owner.h"

namespace keplerd {

class HostRoot;

// A line of /etc/subuid. 64 bits: `first + count` may be 2^32.
struct SubordinateRange {
  Uid login = 0;
  std::uint64_t first = 0, count = 0;
};

// `passwd`: /etc/passwd, to resolve names to user ids. Lines that are malformed or name an unknown user are
// ignored, as are those after the first 10,000.
std::vector<SubordinateRange> parse_subuid(std::string_view subuid, std::string_view passwd);

// The user ids in /etc/passwd, sorted.
std::vector<Uid> parse_passwd_users(std::string_view passwd);

class Logins {
 public:
  Logins() = default;
  // `users`: sorted.
  explicit Logins(const std::vector<SubordinateRange>& ranges, std::vector<Uid> users = {});

  // Returns `user` itself if it is not a subordinate id, or one of several logins (the owner is then
  // unknown). A user of the host is never subordinate, even if a range includes it ("root:1000:1"): below
  // 65536, which is not for user namespaces, or in /etc/passwd.
  Uid login_of(Uid user) const;

  // The account to charge `user` to when each login has a limited share: its login, or itself if it is a user
  // of the host. Unset if it is neither: one login may have created thousands of such users.
  std::optional<Uid> account_of(Uid user) const;

 private:
  bool is_user_of_host(Uid user) const;
  const SubordinateRange* range_of(Uid user) const;

  // Disjoint and sorted; only ids that belong to exactly one login.
  std::vector<SubordinateRange> ranges_;
  std::vector<Uid> users_;
};

// The current contents of /etc/subuid and /etc/passwd.
class LoginFiles {
 public:
  // `host` must outlive it.
  explicit LoginFiles(const HostRoot& host) : host_(host) {}

  // Checks for changes every ten seconds. `now`: of the monotonic clock.
  void refresh(Nanoseconds now);
  const Logins& logins() const { return logins_; }

 private:
  static bool read(int directory, const char* name, FileStamp& stamp, std::string& text);

  const HostRoot& host_;
  LastCheck checked_;
  FileStamp subuid_stamp_, passwd_stamp_;
  std::string subuid_, passwd_;
  Logins logins_;
};

}  // namespace keplerd
