// SPDX-License-Identifier: Apache-2.0
// Names of cipher suites and curves in web.yml, which are those of Go's crypto/tls (those of CipherSuites()
// and of exporter-toolkit), with their parts in priority strings of GnuTLS.
#pragma once

#include <array>
#include <string_view>

namespace keplerd::exporter::http {

struct CipherSuite {
  std::string_view name;
  std::string_view key_exchange;  // also says which key the certificate has; empty: of TLS 1.3
  std::string_view cipher, mac;
};

// In Go, those of TLS 1.3 can be listed, but are always enabled.
inline constexpr std::array<CipherSuite, 13> kCipherSuites = {
    {{"TLS_AES_128_GCM_SHA256", "", "", ""},
     {"TLS_AES_256_GCM_SHA384", "", "", ""},
     {"TLS_CHACHA20_POLY1305_SHA256", "", "", ""},
     {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA", "AES-128-CBC", "SHA1"},
     {"TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA", "AES-256-CBC", "SHA1"},
     {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA", "AES-128-GCM", "AEAD"},
     {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA", "AES-256-GCM", "AEAD"},
     {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA", "CHACHA20-POLY1305", "AEAD"},
     {"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA", "AES-128-CBC", "SHA1"},
     {"TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA", "AES-256-CBC", "SHA1"},
     {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA", "AES-128-GCM", "AEAD"},
     {"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA", "AES-256-GCM", "AEAD"},
     {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA", "CHACHA20-POLY1305", "AEAD"}}};

struct Curve {
  std::string_view name, group;
};

inline constexpr std::array<Curve, 4> kCurves = {{{"CurveP256", "GROUP-SECP256R1"},
                                                  {"CurveP384", "GROUP-SECP384R1"},
                                                  {"CurveP521", "GROUP-SECP521R1"},
                                                  {"X25519", "GROUP-X25519"}}};

}  // namespace keplerd::exporter::http
