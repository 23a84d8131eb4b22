// SPDX-License-Identifier: Apache-2.0
// TLS settings as GnuTLS has them: priority strings, and which client certificates are accepted.
#pragma once

#include <memory>
#include <string>

#include <gnutls/gnutls.h>

#include "base/result.h"
#include "exporter/http/web_config.h"

namespace keplerd::exporter::http {

class TlsPolicy {
 public:
  // `certificate`: the server's, in PEM. Its key decides which cipher suites are possible.
  static Result<TlsPolicy> make(const TlsConfig& config, const std::string& certificate);

  // Of a session before its version is known.
  const std::string& priorities() const { return priorities_; }

  // Call it before the handshake; the policy must outlive the session.
  void attach(gnutls_session_t session) const;

  // Call it after the handshake: whether the client has presented the required certificate. The handshake
  // itself requests it, but does not insist.
  bool is_trusted(gnutls_session_t session) const;

 private:
  struct Release {
    void operator()(gnutls_priority_t priority) const { gnutls_priority_deinit(priority); }
  };

  explicit TlsPolicy(const TlsConfig& config) : config_(config) {}
  static int on_client_hello(gnutls_session_t session);
  Result<Done> take_suites(const std::string& certificate, int& min_version);

  TlsConfig config_;
  std::string priorities_;
  // Of sessions of TLS 1.2 and before; empty: the same. GnuTLS has one list for all versions, but cipher
  // suites of TLS 1.3 are not configurable.
  std::unique_ptr<gnutls_priority_st, Release> older_;
};

}  // namespace keplerd::exporter::http
