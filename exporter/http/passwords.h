// SPDX-License-Identifier: Apache-2.0
// Names and passwords against bcrypt hashes. A hash takes a tenth of a second of the only thread there is, so
// that what was found is remembered, and whoever tries passwords gets no more than a part of that thread: one
// peer a sixteenth, and all together a quarter. Beyond that new passwords are not looked at, while those that
// are known to be right still are.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"
#include "exporter/http/peer.h"

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
  Verdict check(const std::optional<Credentials>& credentials, const Peer& peer);

 private:
  using Digest = std::array<unsigned char, 32>;

  // Time that may be spent: `most` at once, and one part in `share` of what passes.
  class Budget {
   public:
    Budget(Nanoseconds most, int share, Nanoseconds now);
    Nanoseconds left(Nanoseconds now) const;
    bool is_full(Nanoseconds now) const { return left(now) == most_; }
    void spend(Nanoseconds begin, Nanoseconds end);  // which adds nothing

   private:
    Nanoseconds most_;
    int share_;
    Nanoseconds left_;
    Nanoseconds counted_;  // when that was so
  };

  Digest digest_of(const Credentials& credentials) const;
  Budget& budget_of(const Peer& peer, Nanoseconds now);
  bool matches(const Credentials& credentials, Budget& of_peer);

  Users users_;
  Means means_;
  std::array<unsigned char, 32> salt_{};  // so that digests tell nothing
  std::map<std::string, Digest> right_;   // the last one of each user
  std::deque<Digest> wrong_;              // the last ones
  Budget all_;
  std::map<Peer, Budget> peers_;  // those that have not their whole budget
};

// bcrypt, as crypt(3) does it.
bool matches_bcrypt(const std::string& password, const std::string& hash);

}  // namespace keplerd::exporter::http
