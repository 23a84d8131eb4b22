// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/web_config.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>

#include <fcntl.h>
#include <yaml-cpp/yaml.h>

#include "base/parse.h"
#include "base/read_all.h"
#include "base/unique_fd.h"

namespace keplerd::exporter::http {
namespace {

constexpr std::size_t kLongestFile = 1 << 20;
// More would take seconds for each password.
constexpr int kMostBcryptCost = 16;

// Inside the parser only; parse_web_config() makes a Result of it.
struct Wrong {
  YAML::Mark place;
  std::string what;
};

[[noreturn]] void wrong(const YAML::Node& node, const std::string& what) { throw Wrong{node.Mark(), what}; }

using Setter = std::function<void(const YAML::Node& value)>;

// Every key of `map`, or an error that names the first one that is not among `setters`.
void take_keys(const YAML::Node& map, const std::string& name, const std::map<std::string, Setter>& setters) {
  if (map.IsNull()) return;
  if (!map.IsMap()) wrong(map, (name.empty() ? "the file" : "'" + name + "'") + " is no mapping");
  for (const auto& entry : map) {
    if (!entry.first.IsScalar()) wrong(entry.first, "a key is no text");
    const std::string key = entry.first.Scalar();
    const std::string full = (name.empty() ? "" : name + ".").append(key);
    const auto setter = setters.find(key);
    if (setter == setters.end()) wrong(entry.first, "unknown key '" + full + "'");
    setter->second(entry.second);
  }
}

std::string text_of(const YAML::Node& node, const std::string& name) {
  if (!node.IsScalar()) wrong(node, "'" + name + "' is no text");
  return node.Scalar();
}

bool flag_of(const YAML::Node& node, const std::string& name) {
  const std::string text = text_of(node, name);
  if (text == "true") return true;
  if (text != "false") wrong(node, "'" + name + "' is neither true nor false");
  return false;
}

// Of a table of words, what `node` says.
template <class Value, std::size_t count>
Value one_of(const YAML::Node& node, const std::string& name,
             const std::array<std::pair<std::string_view, Value>, count>& words) {
  const std::string text = text_of(node, name);
  for (const auto& [word, value] : words) {
    if (text == word) return value;
  }
  wrong(node, "'" + name + "' cannot be '" + text + "' here");
}

Setter refuse(const std::string& name) {
  return [name](const YAML::Node& node) {
    if (node.IsNull() || (node.IsSequence() && node.size() == 0)) return;
    wrong(node, "'" + name + "' is not supported by keplerd-exporter");
  };
}

bool is_bcrypt(std::string_view hash) {
  constexpr std::size_t kLength = 60;
  if (hash.size() != kLength) return false;
  if (!hash.starts_with("$2a$") && !hash.starts_with("$2b$") && !hash.starts_with("$2y$")) return false;
  if (hash[6] != '$' || !parse_number<unsigned>(hash.substr(4, 2))) return false;
  return hash.find_first_not_of("./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 7) ==
         hash.npos;
}

class Parser {
 public:
  explicit Parser(const std::string& directory) : directory_(directory) {}

  WebConfig parse(const std::string& text) {
    const YAML::Node file = YAML::Load(text);
    take_keys(file, "",
              {{"tls_server_config", [this](const YAML::Node& node) { take_tls(node); }},
               {"http_server_config", [this](const YAML::Node& node) { take_http(node); }},
               {"basic_auth_users", [this](const YAML::Node& node) { take_users(node); }},
               {"rate_limit", refuse("rate_limit")}});
    check_tls(file);
    return std::move(config_);
  }

 private:
  static std::string tls(const std::string& key) { return "tls_server_config." + key; }

  Setter path(const std::string& key, std::string& target) {
    return [this, key, &target](const YAML::Node& node) {
      target = text_of(node, tls(key));
      if (!target.empty() && target[0] != '/') target = directory_ + "/" + target;
    };
  }

  Setter version(const std::string& key, int& target) {
    return [key, &target](const YAML::Node& node) {
      static constexpr std::array<std::pair<std::string_view, int>, 4> kVersions = {
          {{"TLS10", 10}, {"TLS11", 11}, {"TLS12", 12}, {"TLS13", 13}}};
      target = one_of(node, tls(key), kVersions);
    };
  }

  void take_tls(const YAML::Node& node) {
    TlsConfig& to = config_.tls;
    take_keys(node, "tls_server_config",
              {{"cert_file", path("cert_file", to.cert_file)},
               {"key_file", path("key_file", to.key_file)},
               {"client_ca_file", path("client_ca_file", to.client_ca_file)},
               {"client_auth_type",
                [&to](const YAML::Node& value) {
                  static constexpr std::array<std::pair<std::string_view, ClientCertificates>, 3> kTypes = {
                      {{"NoClientCert", ClientCertificates::kNone},
                       {"VerifyClientCertIfGiven", ClientCertificates::kVerifyIfGiven},
                       {"RequireAndVerifyClientCert", ClientCertificates::kRequire}}};
                  to.clients = one_of(value, tls("client_auth_type"), kTypes);
                }},
               {"min_version", version("min_version", to.min_version)},
               {"max_version", version("max_version", to.max_version)},
               {"prefer_server_cipher_suites",
                [&to](const YAML::Node& value) {
                  to.server_order = flag_of(value, tls("prefer_server_cipher_suites"));
                }},
               {"cipher_suites", refuse(tls("cipher_suites"))},
               {"curve_preferences", refuse(tls("curve_preferences"))},
               {"client_allowed_sans", refuse(tls("client_allowed_sans"))}});
    config_.has_tls = !node.IsNull() && node.size() > 0;
  }

  void check_tls(const YAML::Node& file) {
    const TlsConfig& tls = config_.tls;
    if (!config_.has_tls) return;
    const YAML::Node place = file["tls_server_config"];
    if (tls.cert_file.empty()) wrong(place, "'tls_server_config' has no cert_file");
    if (tls.key_file.empty()) wrong(place, "'tls_server_config' has no key_file");
    if (tls.min_version > tls.max_version) wrong(place, "min_version is greater than max_version");
    if (tls.clients == ClientCertificates::kNone && !tls.client_ca_file.empty()) {
      wrong(place, "a client_ca_file needs a client_auth_type");
    }
    if (tls.clients != ClientCertificates::kNone && tls.client_ca_file.empty()) {
      wrong(place, "this client_auth_type needs a client_ca_file");
    }
  }

  void take_http(const YAML::Node& node) {
    take_keys(node, "http_server_config",
              {{"http2", [](const YAML::Node& value) { flag_of(value, "http_server_config.http2"); }},
               {"headers", [this](const YAML::Node& value) { take_headers(value); }}});
  }

  void take_headers(const YAML::Node& node) {
    std::map<std::string, Setter> setters;
    for (const char* header : {"Content-Security-Policy", "X-Frame-Options", "X-Content-Type-Options",
                               "X-XSS-Protection", "Strict-Transport-Security"}) {
      setters[header] = [this, header](const YAML::Node& value) {
        const std::string name = std::string("http_server_config.headers.") + header;
        const std::string text = text_of(value, name);
        const bool printable = std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7f; });
        if (!printable) wrong(value, "'" + name + "' has characters that no header may have");
        if (!text.empty()) config_.headers[header] = text;
      };
    }
    take_keys(node, "http_server_config.headers", setters);
  }

  void take_users(const YAML::Node& node) {
    if (node.IsNull()) return;
    if (!node.IsMap()) wrong(node, "'basic_auth_users' is no mapping");
    for (const auto& entry : node) {
      const std::string user = text_of(entry.first, "basic_auth_users");
      const std::string hash = text_of(entry.second, "basic_auth_users." + user);
      if (!is_bcrypt(hash)) wrong(entry.second, "the password of '" + user + "' is no bcrypt hash");
      if (parse_number<int>(std::string_view(hash).substr(4, 2)) > kMostBcryptCost) {
        wrong(entry.second, "the bcrypt hash of '" + user + "' costs more than 16");
      }
      config_.users[user] = hash;
    }
  }

  const std::string& directory_;
  WebConfig config_;
};

}  // namespace

Result<WebConfig> parse_web_config(const std::string& text, const std::string& directory) {
  const auto at = [](const YAML::Mark& mark, const std::string& what) {
    return Error{std::to_string(mark.line + 1) + ": " + what};
  };
  try {
    return Parser(directory).parse(text);
  } catch (const Wrong& error) {
    return at(error.place, error.what);
  } catch (const YAML::Exception& error) {
    return at(error.mark, error.msg);
  }
}

Result<WebConfig> load_web_config(const std::string& path) {
  const auto text = read_small_file(path);
  if (!text) return text.error();
  const auto slash = path.rfind('/');
  auto config = parse_web_config(*text, slash == path.npos ? "." : path.substr(0, slash));
  if (!config) return Error{path + ":" + config.error().message};
  return config;
}

Result<std::string> read_small_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return system_error(path, errno);
  auto text = read_all(file.get(), kLongestFile, path);
  if (!text && text.error().code == EFBIG) return Error{path + ": more than a megabyte"};
  return text;
}

}  // namespace keplerd::exporter::http
