// SPDX-License-Identifier: Apache-2.0
#include "daemon/libvirt/helper_policy.h"

#include <algorithm>

namespace keplerd {

HelperPolicy::Action HelperPolicy::decide(bool wanted, Nanoseconds now) const {
  if (started_) return !wanted || now - heard_ > kPatience ? Action::kKill : Action::kNone;
  const bool may_start = !pause_until_ || now >= *pause_until_;
  return wanted && may_start ? Action::kStart : Action::kNone;
}

void HelperPolicy::started(Nanoseconds now) { started_ = heard_ = now; }

void HelperPolicy::ended(Nanoseconds now) {
  if (!started_) return;
  const bool early = now - *started_ < kLongestPause;
  pause_ = early && pause_until_ ? std::min(2 * pause_, kLongestPause) : kFirstPause;
  pause_until_ = now + pause_;
  started_.reset();
}

}  // namespace keplerd
