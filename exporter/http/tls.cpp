// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/tls.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <arpa/inet.h>
#include <gnutls/x509.h>

#include "exporter/http/tls_names.h"

namespace keplerd::exporter::http {
namespace {

constexpr int kTls13 = 13;

struct ReleaseCertificate {
  void operator()(gnutls_x509_crt_t certificate) const { gnutls_x509_crt_deinit(certificate); }
};
using Certificate = std::unique_ptr<gnutls_x509_crt_int, ReleaseCertificate>;

Certificate read_certificate(const gnutls_datum_t& data, gnutls_x509_crt_fmt_t format) {
  gnutls_x509_crt_t read = nullptr;
  if (gnutls_x509_crt_init(&read) != GNUTLS_E_SUCCESS) return nullptr;
  Certificate certificate(read);
  return gnutls_x509_crt_import(read, &data, format) == GNUTLS_E_SUCCESS ? std::move(certificate) : nullptr;
}

// "ECDHE-RSA"; empty if the certificate cannot be read.
std::string_view key_exchange_of(const std::string& pem) {
  std::string text = pem;
  const gnutls_datum_t data{reinterpret_cast<unsigned char*>(text.data()),
                            static_cast<unsigned>(text.size())};
  const Certificate certificate = read_certificate(data, GNUTLS_X509_FMT_PEM);
  if (!certificate) return "";
  switch (gnutls_x509_crt_get_pk_algorithm(certificate.get(), nullptr)) {
    case GNUTLS_PK_RSA:
    case GNUTLS_PK_RSA_PSS:
      return "ECDHE-RSA";
    default:
      return "ECDHE-ECDSA";
  }
}

std::string versions(const TlsConfig& tls, int min, int max) {
  std::string text = "NORMAL:-VERS-ALL";
  for (int version = min; version <= max; ++version) text += ":+VERS-TLS1." + std::to_string(version - 10);
  if (!tls.curves.empty()) text += ":-GROUP-ALL";
  for (const std::string& name : tls.curves) {
    text += ":+" + std::string(std::ranges::find(kCurves, name, &Curve::name)->group);
  }
  if (tls.server_order) text += ":%SERVER_PRECEDENCE";
  return text;
}

// An entry of the subject's alternative names, in the form of Go's crypto/x509; nothing for other types.
std::optional<std::string> name_of(unsigned type, const std::string& value) {
  switch (type) {
    case GNUTLS_SAN_DNSNAME:
    case GNUTLS_SAN_RFC822NAME:
    case GNUTLS_SAN_URI:
      return value;
    case GNUTLS_SAN_IPADDRESS:
      break;
    default:
      return std::nullopt;
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = value.size() == sizeof(in_addr) ? AF_INET : AF_INET6;
  const bool readable = family == AF_INET || value.size() == sizeof(in6_addr);
  if (!readable || ::inet_ntop(family, value.data(), text.data(), text.size()) == nullptr)
    return std::nullopt;
  return text.data();
}

bool has_name_of(gnutls_x509_crt_t certificate, const std::vector<std::string>& allowed) {
  constexpr std::size_t kLongest = 4096;
  std::string value;
  for (unsigned index = 0;; ++index) {
    value.resize(kLongest);
    std::size_t size = value.size();
    const int type = gnutls_x509_crt_get_subject_alt_name(certificate, index, value.data(), &size, nullptr);
    if (type == GNUTLS_E_SHORT_MEMORY_BUFFER) continue;  // too long to be one of those
    if (type < 0) return false;
    value.resize(std::min(size, kLongest));
    const auto name = name_of(static_cast<unsigned>(type), value);
    if (name && std::ranges::find(allowed, *name) != allowed.end()) return true;
  }
}

}  // namespace

Result<TlsPolicy> TlsPolicy::make(const TlsConfig& config, const std::string& certificate) {
  TlsPolicy policy(config);
  int min_version = config.min_version;
  if (!config.cipher_suites.empty()) {
    if (const auto taken = policy.take_suites(certificate, min_version); !taken) return taken.error();
  }
  policy.priorities_ = versions(config, min_version, config.max_version);
  return policy;
}

// Only the suites for the key of this certificate: with one key exchange, the products of ciphers and MACs in
// GnuTLS's list are just these suites.
Result<Done> TlsPolicy::take_suites(const std::string& certificate, int& min_version) {
  const std::string_view key_exchange = key_exchange_of(certificate);
  std::string ciphers, macs;
  for (const std::string& name : config_.cipher_suites) {
    const auto suite = std::ranges::find(kCipherSuites, name, &CipherSuite::name);
    if (suite->key_exchange.empty() || suite->key_exchange != key_exchange) continue;
    ciphers += ":+" + std::string(suite->cipher);
    macs += ":+" + std::string(suite->mac);
  }
  if (ciphers.empty()) {
    if (config_.max_version < kTls13)
      return Error{"none of the cipher_suites fits the key of the certificate"};
    min_version = kTls13;
    return Done{};
  }
  if (min_version >= kTls13) return Done{};
  const std::string text = versions(config_, min_version, std::min(config_.max_version, kTls13 - 1)) +
                           ":-KX-ALL:+" + std::string(key_exchange) + ":-CIPHER-ALL" + ciphers + ":-MAC-ALL" +
                           macs;
  gnutls_priority_t older = nullptr;
  if (const int code = gnutls_priority_init(&older, text.c_str(), nullptr); code != GNUTLS_E_SUCCESS) {
    return Error{std::string("GnuTLS refuses the cipher_suites: ") + gnutls_strerror(code)};
  }
  older_.reset(older);
  return Done{};
}

// The pointer is for caches of sessions, of which there are none here: libmicrohttpd uses the other one.
void TlsPolicy::attach(gnutls_session_t session) const {
  if (!older_) return;
  gnutls_db_set_ptr(session, const_cast<TlsPolicy*>(this));
  gnutls_handshake_set_post_client_hello_function(session, on_client_hello);
}

int TlsPolicy::on_client_hello(gnutls_session_t session) {
  const auto& policy = *static_cast<const TlsPolicy*>(gnutls_db_get_ptr(session));
  if (gnutls_protocol_get_version(session) >= GNUTLS_TLS1_3) return GNUTLS_E_SUCCESS;
  return gnutls_priority_set(session, policy.older_.get());
}

bool TlsPolicy::is_trusted(gnutls_session_t session) const {
  if (config_.clients == ClientCertificates::kNone) return true;
  unsigned count = 0;
  const gnutls_datum_t* const chain = gnutls_certificate_get_peers(session, &count);
  if (chain == nullptr || count == 0) return config_.clients == ClientCertificates::kVerifyIfGiven;
  unsigned status = 1;
  if (gnutls_certificate_verify_peers2(session, &status) != GNUTLS_E_SUCCESS || status != 0) return false;
  if (config_.client_names.empty()) return true;
  const Certificate certificate = read_certificate(chain[0], GNUTLS_X509_FMT_DER);
  return certificate && has_name_of(certificate.get(), config_.client_names);
}

}  // namespace keplerd::exporter::http
