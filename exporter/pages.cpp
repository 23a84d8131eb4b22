// SPDX-License-Identifier: Apache-2.0
#include "exporter/pages.h"

#include <utility>

#include "exporter/http/gzip.h"
#include "exporter/http/negotiation.h"

namespace keplerd::exporter {
namespace {

using http::Body;
using http::Request;
using http::Response;
using http::text_response;

constexpr char kLandingPage[] = R"(<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>keplerd-exporter</title></head>
<body>
<h1>keplerd-exporter</h1>
<p>The energy of this host and its workloads, for Prometheus. Version )" KEPLERD_VERSION R"(.</p>
<ul>
<li><a href="/metrics">/metrics</a>: the metrics</li>
<li><a href="/-/ready">/-/ready</a>: whether keplerd answers</li>
<li><a href="/-/healthy">/-/healthy</a>: whether the exporter does</li>
</ul>
<p>Metrics that Kepler exports as well have its names and labels. Manual: keplerd-exporter(8).</p>
</body>
</html>
)";

Response landing_page() {
  Response response = text_response(200, kLandingPage);
  response.type = "text/html; charset=utf-8";
  response.headers.emplace_back("Content-Security-Policy", "default-src 'none'");
  return response;
}

Response refusal_for(Nanoseconds interval) {
  Response response = text_response(429, "Too many requests. Try again later.\n");
  const auto wait = std::chrono::ceil<std::chrono::seconds>(interval);
  response.headers.emplace_back("Retry-After", std::to_string(wait.count()));
  return response;
}

Response refusal(http::Verdict verdict) {
  if (verdict == http::Verdict::kTooMany) {
    Response response = text_response(429, "Too many password checks. Try again later.\n");
    response.headers.emplace_back("Retry-After", "5");
    return response;
  }
  Response response = text_response(401, "Unauthorized\n");
  response.headers.emplace_back("WWW-Authenticate", "Basic");
  return response;
}

std::string content_type(Format format) {
  return format == Format::kOpenMetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                        : "text/plain; version=0.0.4; charset=utf-8";
}

bool is_read(const Request& request) { return request.method == "GET" || request.method == "HEAD"; }

bool asks_for_metrics(const Request& request) { return is_read(request) && request.path == "/metrics"; }

}  // namespace

Pages::Pages(Contents& contents, http::Passwords passwords, Rules rules)
    : contents_(contents), passwords_(std::move(passwords)), rules_(std::move(rules)) {
  if (rules_.rate_limit) rate_limit_.emplace(*rules_.rate_limit);
}

// Before anything else: a request that is refused costs as little as possible.
bool Pages::is_too_often(const Request& request) {
  return rate_limit_ && !request.again && !rate_limit_->allow(rules_.now());
}

std::optional<Response> Pages::answer(const Request& request) {
  std::optional<Response> response;
  if (is_too_often(request)) {
    response = refusal_for(rules_.rate_limit->interval);
  } else if (const auto verdict = passwords_.check(request.credentials, request.peer);
             verdict != http::Verdict::kRight) {
    response = refusal(verdict);
  } else if (asks_for_metrics(request) && !contents_.prepare()) {
    return std::nullopt;
  } else {
    response = page(request);
  }
  for (const auto& [name, value] : rules_.headers) {
    std::erase_if(response->headers, [&name = name](const auto& own) { return own.first == name; });
    response->headers.emplace_back(name, value);
  }
  return response;
}

Response Pages::page(const Request& request) {
  if (!is_read(request)) {
    Response response = text_response(405, "Only GET and HEAD are supported.\n");
    response.headers.emplace_back("Allow", "GET, HEAD");
    return response;
  }
  if (asks_for_metrics(request)) return metrics(request);
  if (request.path == "/-/healthy") return text_response(200, "keplerd-exporter is healthy.\n");
  if (request.path == "/-/ready") {
    return contents_.is_ready() ? text_response(200, "keplerd-exporter is ready.\n")
                                : text_response(503, "keplerd does not answer.\n");
  }
  if (request.path == "/") return landing_page();
  return text_response(404, "Not found: see /metrics.\n");
}

Response Pages::metrics(const Request& request) {
  const Format format = http::choose_format(request.accept);
  Response response;
  response.type = content_type(format);
  response.headers.emplace_back("Vary", "Accept, Accept-Encoding");
  if (http::accepts_gzip(request.accept_encoding)) response.body = body_of(format, true);
  if (response.body) {
    response.headers.emplace_back("Content-Encoding", "gzip");
  } else {
    response.body = body_of(format, false);
  }
  return response;
}

Body Pages::body_of(Format format, bool zipped) {
  Kept& kept = kept_[(format == Format::kOpenMetrics ? 2 : 0) + (zipped ? 1 : 0)];
  if (kept.body && kept.revision == contents_.revision()) return kept.body;
  const Kept& plain = kept_[format == Format::kOpenMetrics ? 2 : 0];
  const bool rendered = plain.body && plain.revision == contents_.revision();
  std::string text;
  if (!zipped || !rendered) text = contents_.metrics(format);
  if (zipped) {
    auto smaller = http::gzip(rendered ? *plain.body : text);
    if (!smaller) return nullptr;
    text = *std::move(smaller);
  }
  kept = {std::make_shared<const std::string>(std::move(text)), contents_.revision()};
  return kept.body;
}

}  // namespace keplerd::exporter
