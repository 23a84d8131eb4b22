// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/web_config.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fcntl.h>

#include "base/parse.h"
#include "base/read_all.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "exporter/http/go_duration.h"
#include "exporter/http/strict_yaml.h"
#include "exporter/http/tls_names.h"

namespace keplerd::exporter::http {
namespace {

constexpr std::size_t kLongestFile = 1 << 20;
constexpr int kLeastBcryptCost = 4;
// A higher cost would take seconds for each password.
constexpr int kMostBcryptCost = 16;

bool is_bcrypt(std::string_view hash) {
  constexpr std::size_t kLength = 60;
  if (hash.size() != kLength) return false;
  if (!hash.starts_with("$2a$") && !hash.starts_with("$2b$") && !hash.starts_with("$2y$")) return false;
  if (hash[6] != '$' || parse_number<int>(hash.substr(4, 2)).value_or(0) < kLeastBcryptCost) return false;
  return hash.find_first_not_of("./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 7) ==
         hash.npos;
}

class Parser {
 public:
  explicit Parser(const std::string& directory) : directory_(directory) {}

  WebConfig parse(const std::string& text) {
    check_characters(text);
    refuse_second_document(text);
    const YAML::Node file = YAML::Load(text);
    if (file.IsNull()) return std::move(config_);
    take_keys(file, "",
              {{"tls_server_config", [this](const YAML::Node& node) { take_tls(node); }},
               {"http_server_config", [this](const YAML::Node& node) { take_http(node); }},
               {"basic_auth_users", [this](const YAML::Node& node) { take_users(node); }},
               {"rate_limit", [this](const YAML::Node& node) { take_rate_limit(node); }}});
    check_tls(file);
    return std::move(config_);
  }

 private:
  static std::string tls(const std::string& key) { return "tls_server_config." + key; }

  Setter path(const std::string& key, std::string& target) {
    return [this, key, &target](const YAML::Node& node) {
      target = text_of(node, quoted(tls(key)));
      if (target.empty()) wrong(node, quoted(tls(key)) + " is empty");
      if (target[0] != '/') target = directory_ + "/" + target;
    };
  }

  Setter version(const std::string& key, int& target) {
    return [key, &target](const YAML::Node& node) {
      static constexpr std::array<std::pair<std::string_view, int>, 4> kVersions = {
          {{"TLS10", 10}, {"TLS11", 11}, {"TLS12", 12}, {"TLS13", 13}}};
      target = one_of(node, tls(key), kVersions);
    };
  }

  // Names of `table`; none: the defaults.
  template <class Table>
  Setter names(const std::string& key, const Table& table, std::vector<std::string>& target) {
    return [key, &table, &target](const YAML::Node& node) {
      target = texts_of(node, tls(key));
      for (const std::string& name : target) {
        const bool known = std::ranges::any_of(table, [&name](const auto& row) { return row.name == name; });
        if (!known) wrong(node, quoted(tls(key)) + " cannot be " + quoted(name) + " here");
      }
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
               {"cipher_suites", names("cipher_suites", kCipherSuites, to.cipher_suites)},
               {"curve_preferences", names("curve_preferences", kCurves, to.curves)},
               {"client_allowed_sans", [&to](const YAML::Node& value) {
                  to.client_names = texts_of(value, tls("client_allowed_sans"));
                  // For exporter-toolkit an empty list allows nobody.
                  if (to.client_names.empty()) wrong(value, quoted(tls("client_allowed_sans")) + " is empty");
                }}});
    config_.has_tls = true;
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
    if (tls.clients == ClientCertificates::kNone && !tls.client_names.empty()) {
      wrong(place, "client_allowed_sans needs a client_auth_type");
    }
  }

  void take_rate_limit(const YAML::Node& node) {
    constexpr int kMostBurst = 1'000'000;
    std::optional<Nanoseconds> interval;
    RateLimitConfig limit;
    take_keys(node, "rate_limit",
              {{"interval",
                [&interval](const YAML::Node& value) {
                  if (value.IsScalar()) interval = parse_go_duration(value.Scalar());
                  if (!interval || *interval > std::chrono::hours(1)) {
                    wrong(value,
                          "'rate_limit.interval' is not a duration such as 100ms or 1m30s, of at most 1h");
                  }
                }},
               {"burst", [&limit](const YAML::Node& value) {
                  const auto burst = value.IsScalar() ? parse_number<int>(value.Scalar()) : std::nullopt;
                  if (!burst || *burst < 0 || *burst > kMostBurst) {
                    wrong(value, "'rate_limit.burst' is not a number from 0 to 1000000");
                  }
                  limit.burst = *burst;
                }}});
    if (!interval) wrong(node, "'rate_limit' has no interval");
    limit.interval = *interval;
    if (limit.interval == Nanoseconds{0}) return;
    if (limit.burst == 0) wrong(node, "'rate_limit' with a burst of 0 would refuse every request");
    config_.rate_limit = limit;
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
        // The usual setting is "X-XSS-Protection: 0", unquoted.
        const std::string text =
            value.IsScalar() && value.Scalar() == "0" ? value.Scalar() : text_of(value, quoted(name));
        const bool printable = std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7f; });
        if (!printable) wrong(value, quoted(name) + " has characters that are not allowed in a header");
        if (!text.empty()) config_.headers[header] = text;
      };
    }
    take_keys(node, "http_server_config.headers", setters);
  }

  void take_users(const YAML::Node& node) {
    const auto take_user = [this](const std::string& user, const YAML::Node& place, const YAML::Node& value) {
      const std::string name = "basic_auth_users." + user;
      check_content(place, name, value);
      const std::string hash = text_of(value, quoted(name));
      if (!is_bcrypt(hash)) wrong(value, "the password of " + quoted(user) + " is no bcrypt hash");
      if (parse_number<int>(std::string_view(hash).substr(4, 2)) > kMostBcryptCost) {
        wrong(value, "the bcrypt hash of " + quoted(user) + " costs more than 16");
      }
      config_.users[user] = hash;
    };
    visit_keys(node, "basic_auth_users", take_user);
  }

  const std::string& directory_;
  WebConfig config_;
};

}  // namespace

Result<WebConfig> parse_web_config(const std::string& text, const std::string& directory) {
  const auto at = [](const YAML::Mark& mark, const std::string& what) {
    return Error{std::to_string(std::max(mark.line, 0) + 1) + ": " + escape_name(what)};
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
