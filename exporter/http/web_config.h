// SPDX-License-Identifier: Apache-2.0
// TLS and passwords in the format shared by Prometheus' exporters (github.com/prometheus/exporter-toolkit,
// docs/web-configuration.md), read strictly. Every key is applied or refused, never ignored: it is an error
// if one is unknown, duplicated, empty, of another type, or requests something unsupported; and so are a
// second document and anything but printable UTF-8.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace keplerd::exporter::http {

enum class ClientCertificates { kNone, kVerifyIfGiven, kRequire };

struct TlsConfig {
  std::string cert_file, key_file;
  std::string client_ca_file;
  ClientCertificates clients = ClientCertificates::kNone;
  int min_version = 12, max_version = 13;  // of TLS 1.x, "1x"
  bool server_order = true;                // prefer the server's order of cipher suites
  std::vector<std::string> cipher_suites;  // of TLS 1.2 and before; by tls_names.h; empty: the defaults
  std::vector<std::string> curves;         // likewise, of all versions
  std::vector<std::string> client_names;   // a client certificate has one of these; empty: any
};

// A request each `interval`, and `burst` at once.
struct RateLimitConfig {
  Nanoseconds interval{};
  int burst = 0;
};

struct WebConfig {
  bool has_tls = false;
  TlsConfig tls;
  std::map<std::string, std::string, std::less<>> headers;  // sent with each response
  std::map<std::string, std::string, std::less<>> users;    // names and bcrypt hashes

  std::optional<RateLimitConfig> rate_limit;

  // Whether every client that gets a response is authenticated.
  bool authenticates() const { return !users.empty() || tls.clients == ClientCertificates::kRequire; }
};

// Paths are relative to `directory`. Errors begin with the line: "3: unknown key 'tls_server_config.cert'".
Result<WebConfig> parse_web_config(const std::string& text, const std::string& directory);

// Errors begin with the path.
Result<WebConfig> load_web_config(const std::string& path);

// Reads a file of at most a megabyte.
Result<std::string> read_small_file(const std::string& path);

}  // namespace keplerd::exporter::http
