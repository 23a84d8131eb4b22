// SPDX-License-Identifier: Apache-2.0
// The pages of the exporter: /metrics, /-/healthy, /-/ready, and a page for people. No I/O: their data comes
// from Contents.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>

#include "exporter/http/passwords.h"
#include "exporter/http/rate_limit.h"
#include "exporter/http/server.h"
#include "exporter/metrics/exposition.h"

namespace keplerd::exporter {

// Supplies the pages' data.
class Contents {
 public:
  virtual ~Contents() = default;
  virtual std::string metrics(Format format) = 0;
  // Called for each request for the metrics. False: they are on their way, and the request has to wait.
  virtual bool prepare() = 0;
  // Changes whenever the output of metrics() may have changed.
  virtual std::uint64_t revision() const = 0;
  // keplerd can be reached, and has sent everything once; or did when it was last followed.
  virtual bool is_ready() const = 0;
};

class Pages {
 public:
  struct Rules {
    std::map<std::string, std::string, std::less<>> headers;  // sent with each response
    std::optional<http::RateLimitConfig> rate_limit = {};
    std::function<Nanoseconds()> now = [] { return std::chrono::steady_clock::now().time_since_epoch(); };
  };

  // `contents` must outlive the pages.
  Pages(Contents& contents, http::Passwords passwords, Rules rules);

  // Empty: to be repeated when the metrics have arrived.
  std::optional<http::Response> answer(const http::Request& request);

 private:
  struct Kept {
    http::Body body;
    std::uint64_t revision = 0;
  };

  bool is_too_often(const http::Request& request);
  http::Response page(const http::Request& request);
  http::Response metrics(const http::Request& request);
  http::Body body_of(Format format, bool zipped);

  Contents& contents_;
  http::Passwords passwords_;
  Rules rules_;
  std::optional<http::RateLimit> rate_limit_;
  std::array<Kept, 4> kept_;  // by format, plain and compressed: generated once for all clients
};

}  // namespace keplerd::exporter
