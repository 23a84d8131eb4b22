// SPDX-License-Identifier: Apache-2.0
// Names and passwords against bcrypt hashes. A hash takes a tenth of a second of the only thread there is, so
// that what was found is remembered, and who tries passwords gets no more than a part of that thread: then
// new passwords are not looked at, while those that are known to be right still are.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/units.h"

namespace keplerd::exporter::http {

struct Credentials {
  std::string user, password;
};

enum class Verdict { kRight, kWrong, kTooMany };

class Passwords {
 public:
  using Users = std::map<std::string, std::string, std::less<>>;  // names and hashes

  // How it is done, so that tests need not wait.
  struct Means {
    std::function<Nanoseconds()> now;
    std::function<bool(const std::string& password, const std::string& hash)> matches;
  };

  explicit Passwords(Users users);
  Passwords(Users users, Means means);

  // `users` is empty: everything is right.
  Verdict check(const std::optional<Credentials>& credentials);

 private:
  using Digest = std::array<unsigned char, 32>;

  Digest digest_of(const Credentials& credentials) const;
  bool may_spend();

  Users users_;
  Means means_;
  std::array<unsigned char, 32> salt_{};  // so that digests tell nothing
  std::set<Digest> right_;                // at most one of each user
  std::deque<Digest> wrong_;              // the last ones
  Nanoseconds budget_;                    // that hashes may take now
  Nanoseconds counted_{0};                // when it was looked at
};

// bcrypt, as crypt(3) does it.
bool matches_bcrypt(const std::string& password, const std::string& hash);

}  // namespace keplerd::exporter::http
