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

namespace keplerd::exporter::http {
namespace {

constexpr std::size_t kWrongRemembered = 256;
constexpr Nanoseconds kMostBudget = std::chrono::seconds(2);
constexpr int kBudgetOfTime = 4;  // a quarter

Nanoseconds read_clock() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace

bool matches_bcrypt(const std::string& password, const std::string& hash) {
  const auto data = std::make_unique<crypt_data>();
  const char* const result = ::crypt_r(password.c_str(), hash.c_str(), data.get());
  if (result == nullptr || std::strlen(result) != hash.size()) return false;
  return gnutls_memcmp(result, hash.data(), hash.size()) == 0;
}

Passwords::Passwords(Users users) : Passwords(std::move(users), {read_clock, matches_bcrypt}) {}

Passwords::Passwords(Users users, Means means)
    : users_(std::move(users)), means_(std::move(means)), budget_(kMostBudget), counted_(means_.now()) {
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

bool Passwords::may_spend() {
  const Nanoseconds now = means_.now();
  budget_ = std::min(budget_ + (now - counted_) / kBudgetOfTime, kMostBudget);
  counted_ = now;
  return budget_ > Nanoseconds{0};
}

Verdict Passwords::check(const std::optional<Credentials>& credentials) {
  if (users_.empty()) return Verdict::kRight;
  if (!credentials) return Verdict::kWrong;
  const Digest digest = digest_of(*credentials);
  if (right_.contains(digest)) return Verdict::kRight;
  if (std::ranges::find(wrong_, digest) != wrong_.end()) return Verdict::kWrong;
  if (!may_spend()) return Verdict::kTooMany;

  // A name that is not known takes as long, so that the time does not tell names.
  const auto user = users_.find(credentials->user);
  const bool known = user != users_.end();
  const bool matches = means_.matches(credentials->password, known ? user->second : users_.begin()->second);
  const Nanoseconds end = means_.now();
  budget_ -= end - counted_;
  counted_ = end;
  if (known && matches) {
    right_.insert(digest);
    return Verdict::kRight;
  }
  wrong_.push_back(digest);
  if (wrong_.size() > kWrongRemembered) wrong_.pop_front();
  return Verdict::kWrong;
}

}  // namespace keplerd::exporter::http
