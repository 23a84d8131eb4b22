// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/passwords.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include <crypt.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

#include "exporter/http/clock.h"

namespace keplerd::exporter::http {
namespace {

constexpr std::size_t kWrongRemembered = 256;
constexpr std::size_t kPeersRemembered = 256;
constexpr Nanoseconds kMostOfAll = std::chrono::seconds(2);
constexpr int kShareOfAll = 4;  // a quarter
constexpr Nanoseconds kMostOfAPeer = std::chrono::seconds(1);
constexpr int kShareOfAPeer = 16;

}  // namespace

bool matches_bcrypt(const std::string& password, const std::string& hash) {
  const auto data = std::make_unique<crypt_data>();
  const char* const result = ::crypt_r(password.c_str(), hash.c_str(), data.get());
  if (result == nullptr || std::strlen(result) != hash.size()) return false;
  return gnutls_memcmp(result, hash.data(), hash.size()) == 0;
}

Passwords::Passwords(Users users) : Passwords(std::move(users), {read_clock, matches_bcrypt}) {}

Passwords::Passwords(Users users, Means means)
    : users_(std::move(users)), means_(std::move(means)), all_(kMostOfAll, kShareOfAll, means_.now()) {
  if (gnutls_rnd(GNUTLS_RND_NONCE, salt_.data(), salt_.size()) != 0)
    throw std::runtime_error("no random numbers");
}

Passwords::Digest Passwords::digest_of(const Credentials& credentials) const {
  std::string text(salt_.begin(), salt_.end());
  text += credentials.user;
  text += '\0';
  text += credentials.password;
  Digest digest{};
  gnutls_hash_fast(GNUTLS_DIG_SHA256, text.data(), text.size(), digest.data());
  return digest;
}

Passwords::Budget::Budget(Nanoseconds most, int share, Nanoseconds now)
    : most_(most), share_(share), left_(most), counted_(now) {}

Nanoseconds Passwords::Budget::left(Nanoseconds now) const {
  return std::min(left_ + (now - counted_) / share_, most_);
}

void Passwords::Budget::spend(Nanoseconds begin, Nanoseconds end) {
  left_ = left(begin) - (end - begin);
  counted_ = end;
}

// A peer with a full budget needs no entry. If there still are too many, the one that has spent least is
// dropped.
Passwords::Budget& Passwords::budget_of(const Peer& peer, Nanoseconds now) {
  if (const auto known = peers_.find(peer); known != peers_.end()) return known->second;
  if (peers_.size() >= kPeersRemembered) {
    std::erase_if(peers_, [now](const auto& entry) { return entry.second.is_full(now); });
  }
  if (peers_.size() >= kPeersRemembered) {
    peers_.erase(
        std::ranges::max_element(peers_, {}, [now](const auto& entry) { return entry.second.left(now); }));
  }
  return peers_.try_emplace(peer, kMostOfAPeer, kShareOfAPeer, now).first->second;
}

// An unknown name takes as long, so that timing does not reveal names.
bool Passwords::matches(const Credentials& credentials, Budget& of_peer) {
  const auto user = users_.find(credentials.user);
  const bool known = user != users_.end();
  const Nanoseconds begin = means_.now();
  const bool matches = means_.matches(credentials.password, known ? user->second : users_.begin()->second);
  const Nanoseconds end = means_.now();
  all_.spend(begin, end);
  of_peer.spend(begin, end);
  return known && matches;
}

Verdict Passwords::check(const std::optional<Credentials>& credentials, const Peer& peer) {
  if (users_.empty()) return Verdict::kRight;
  if (!credentials) return Verdict::kWrong;
  const Digest digest = digest_of(*credentials);
  const auto right = right_.find(credentials->user);
  if (right != right_.end() && right->second == digest) return Verdict::kRight;
  if (std::ranges::find(wrong_, digest) != wrong_.end()) return Verdict::kWrong;

  const Nanoseconds now = means_.now();
  if (all_.left(now) <= Nanoseconds{0}) return Verdict::kTooMany;
  Budget& of_peer = budget_of(peer, now);
  if (of_peer.left(now) <= Nanoseconds{0}) return Verdict::kTooMany;
  if (matches(*credentials, of_peer)) {
    right_[credentials->user] = digest;
    return Verdict::kRight;
  }
  wrong_.push_back(digest);
  if (wrong_.size() > kWrongRemembered) wrong_.pop_front();
  return Verdict::kWrong;
}

}  // namespace keplerd::exporter::http
