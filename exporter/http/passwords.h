// SPDX-License-Identifier: Apache-2.0
// Checks names and passwords against bcrypt hashes. A hash takes a tenth of a second of the only thread,
// so results are cached, and password guessing gets only a part of that thread: one peer a sixteenth, and
// all together a quarter. Beyond that new passwords are not checked, while those known to be right still
// work.
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

  // The check itself, so that tests need not wait.
  struct Means {
    std::function<Nanoseconds()> now;
    std::function<bool(const std::string& password, const std::string& hash)> matches;
  };

  explicit Passwords(Users users);
  Passwords(Users users, Means means);

  // `users` is empty: no authentication.
  Verdict check(const std::optional<Credentials>& credentials, const Peer& peer);

 private:
  using Digest = std::array<unsigned char, 32>;

  // Time that may be spent: at most `most` at once, and one part in `share` of elapsed time.
  class Budget {
   public:
    Budget(Nanoseconds most, int share, Nanoseconds now);
    Nanoseconds left(Nanoseconds now) const;
    bool is_full(Nanoseconds now) const { return left(now) == most_; }
    void spend(Nanoseconds begin, Nanoseconds end);  // the span itself earns nothing

   private:
    Nanoseconds most_;
    int share_;
    Nanoseconds left_;
    Nanoseconds counted_;  // when that was true
  };

  Digest digest_of(const Credentials& credentials) const;
  Budget& budget_of(const Peer& peer, Nanoseconds now);
  bool matches(const Credentials& credentials, Budget& of_peer);

  Users users_;
  Means means_;
  std::array<unsigned char, 32> salt_{};  // so that the digests reveal nothing
  std::map<std::string, Digest> right_;   // the last one of each user
  std::deque<Digest> wrong_;              // the latest ones
  Budget all_;
  std::map<Peer, Budget> peers_;  // those without a full budget
};

// bcrypt, by crypt(3).
bool matches_bcrypt(const std::string& password, const std::string& hash);

}  // namespace keplerd::exporter::http
