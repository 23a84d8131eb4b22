// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/rate_limit.h"

#include <algorithm>

namespace keplerd::exporter::http {

bool RateLimit::allow(Nanoseconds now) {
  const Nanoseconds full = std::max(full_, now) + config_.interval;
  if (full - now > config_.burst * config_.interval) return false;
  full_ = full;
  return true;
}

}  // namespace keplerd::exporter::http
