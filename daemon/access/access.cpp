// SPDX-License-Identifier: Apache-2.0
#include "daemon/access/access.h"

#include <algorithm>
#include <utility>

namespace keplerd {
namespace {

constexpr Nanoseconds kPublicPeriod = std::chrono::seconds(1);
// A sample is never exactly on time: one that is a little early for the public tick still is it. The next one
// is due a period after this one was due, so that there is never more than one a period.
constexpr Nanoseconds kMostEarly = std::chrono::milliseconds(50);
constexpr std::size_t kMostViews = 64;  // of users who ask within one tick, kept to answer again

}  // namespace

void Access::set_rule(PublicAccess rule) {
  if (std::exchange(rule_, rule) != rule) views_.clear();
}

Caller Access::identify(uid_t user, std::span<const gid_t> groups) const {
  const bool member = group_ && std::ranges::find(groups, *group_) != groups.end();
  return {.user = user, .full = user == 0 || user == own_ || member};
}

void Access::add(std::shared_ptr<const Report> report) {
  latest_ = std::move(report);
  const Nanoseconds now = latest_->monotonic;
  const Nanoseconds early = std::min(kMostEarly, latest_->window / 20);
  if (tick_.now && now < due_ - early) return;
  due_ = std::max(due_, now) + kPublicPeriod;
  tick_ = {.now = latest_, .before = std::move(tick_.now)};
  views_.clear();
}

std::shared_ptr<const Report> Access::report_for(const Caller& caller) {
  if (caller.full) return latest_;
  if (rule_ == PublicAccess::kNone || !tick_.now) return nullptr;
  const uid_t user = rule_ == PublicAccess::kOwn ? caller.user : Caller{}.user;
  const auto known = views_.find(user);
  if (known != views_.end()) return known->second;
  if (views_.size() >= kMostViews) views_.clear();
  return views_[user] = make_public_view(tick_, rule_, user);
}

}  // namespace keplerd
