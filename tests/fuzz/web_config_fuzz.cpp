// SPDX-License-Identifier: Apache-2.0
// web.yml: taken or refused with one line; what is taken has what TLS needs, and no password that is no hash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "exporter/http/web_config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keplerd::exporter::http;
  const auto config = parse_web_config(std::string(reinterpret_cast<const char*>(data), size), "/etc/x");
  if (!config) {
    if (config.error().message.empty()) std::abort();
    return 0;
  }
  const TlsConfig& tls = config->tls;
  if (config->has_tls && (tls.cert_file.empty() || tls.key_file.empty())) std::abort();
  if ((tls.clients != ClientCertificates::kNone) != !tls.client_ca_file.empty()) std::abort();
  for (const std::string& file : {tls.cert_file, tls.key_file, tls.client_ca_file}) {
    if (!file.empty() && file[0] != '/') std::abort();
  }
  for (const auto& [user, hash] : config->users) {
    if (hash.size() != 60 || !hash.starts_with("$2")) std::abort();
  }
  for (const auto& [name, value] : config->headers) {
    if (value.find_first_of("\r\n") != value.npos) std::abort();
  }
  return 0;
}
