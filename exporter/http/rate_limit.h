// SPDX-License-Identifier: Apache-2.0
// Limits requests with a token bucket: one each interval, and a burst at once. Pure: it has no clock.
#pragma once

#include "exporter/http/web_config.h"

namespace keplerd::exporter::http {

class RateLimit {
 public:
  explicit RateLimit(const RateLimitConfig& config) : config_(config) {}

  // Takes a token, if there is one.
  bool allow(Nanoseconds now);

 private:
  RateLimitConfig config_;
  Nanoseconds full_{0};  // when the bucket is full again
};

}  // namespace keplerd::exporter::http
