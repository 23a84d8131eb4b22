// SPDX-License-Identifier: Apache-2.0
// web.yml: applied, or refused with one line. If applied, it has what TLS needs, only hashes as passwords,
// and never less protection than it mentions.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "exporter/http/web_config.h"

namespace {

// Whether a line begins with the key. Unless something is quoted or in braces, it is one of the file itself.
bool mentions(std::string_view text, std::string_view key) {
  if (text.find_first_of("\"'{[") != text.npos) return false;
  for (std::size_t at = text.find(key); at != text.npos; at = text.find(key, at + 1)) {
    const std::string_view after = text.substr(at + key.size());
    if ((at == 0 || text[at - 1] == '\n') &&
        (after.empty() || std::string_view(": \n").find(after[0]) != after.npos))
      return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keplerd::exporter::http;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto config = parse_web_config(text, "/etc/x");
  if (!config) {
    const std::string& message = config.error().message;
    const auto digits = message.find_first_not_of("0123456789");
    if (digits == 0 || message.find('\n') != message.npos || message.compare(digits, 2, ": ") != 0)
      std::abort();
    return 0;
  }
  if (mentions(text, "tls_server_config") && !config->has_tls) std::abort();
  if (mentions(text, "basic_auth_users") && config->users.empty()) std::abort();
  const TlsConfig& tls = config->tls;
  if (config->has_tls && (tls.cert_file.empty() || tls.key_file.empty())) std::abort();
  if ((tls.clients != ClientCertificates::kNone) != !tls.client_ca_file.empty()) std::abort();
  for (const std::string& file : {tls.cert_file, tls.key_file, tls.client_ca_file}) {
    if (!file.empty() && file[0] != '/') std::abort();
  }
  if (!tls.client_names.empty() && tls.clients == ClientCertificates::kNone) std::abort();
  if (const auto& limit = config->rate_limit;
      limit && (limit->interval <= limit->interval.zero() || limit->burst < 1))
    std::abort();
  for (const auto& [user, hash] : config->users) {
    if (hash.size() != 60 || !hash.starts_with("$2")) std::abort();
  }
  for (const auto& [name, value] : config->headers) {
    if (value.find_first_of("\r\n") != value.npos) std::abort();
  }
  return 0;
}
