// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/web_config.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <set>
#include <sstream>

#include <fcntl.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "base/parse.h"
#include "base/read_all.h"
#include "base/text.h"
#include "base/unique_fd.h"

namespace keplerd::exporter::http {
namespace {

constexpr std::size_t kLongestFile = 1 << 20;
constexpr int kLeastBcryptCost = 4;
// A higher cost would take seconds for each password.
constexpr int kMostBcryptCost = 16;

// Used inside the parser only; parse_web_config() turns it into a Result.
struct Wrong {
  YAML::Mark place;
  std::string what;
};

[[noreturn]] void wrong(const YAML::Node& node, const std::string& what) { throw Wrong{node.Mark(), what}; }

// Checks the text as a whole for what YAML parsers and readers interpret differently.
void check_characters(std::string_view text) {
  constexpr std::uint32_t kByteOrderMark = 0xfeff;
  YAML::Mark place;
  for (bool first = true; !text.empty(); first = false) {
    const auto character = first_character(text);
    const bool newline = text.starts_with('\n') || text.starts_with("\r\n");
    const bool blank = newline || text.starts_with('\t');
    const bool readable = character && is_printable(character->code_point) &&
                          (first || character->code_point != kByteOrderMark);
    if (!blank && !readable) throw Wrong{place, "only printable UTF-8 is allowed here"};
    if (text.starts_with('\n')) ++place.line;
    text.remove_prefix(character->length);
  }
}

// Where the documents of a file begin.
class DocumentStarts : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& place) override { places.push_back(place); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
  }
  void OnMapEnd() override {}

  std::vector<YAML::Mark> places;
};

// YAML::Load() ignores all but the first; YAML::LoadAll() finds an endless document in ", ".
void refuse_second_document(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentStarts starts;
  while (starts.places.size() < 2 && parser.HandleNextDocument(starts)) {
  }
  if (starts.places.size() > 1) throw Wrong{starts.places[1], "a second document begins here"};
}

// The type of a plain scalar (yaml.org/spec/1.2.2, 10.3.2). As in YAML 1.1, "yes" and "no" are
// booleans.
bool is_flag_or_number(const YAML::Node& node) {
  if (node.Tag() != "?") return false;
  bool flag = false;
  double number = 0;
  std::int64_t integer = 0;
  return YAML::convert<bool>::decode(node, flag) || YAML::convert<double>::decode(node, number) ||
         YAML::convert<std::int64_t>::decode(node, integer);
}

bool is_text(const YAML::Node& node) {
  if (!node.IsScalar()) return false;
  const std::string& tag = node.Tag();  // "?": plain, "!": in quotes
  if (tag == "?") return !is_flag_or_number(node) && node.Scalar() != "<<";
  return tag == "!" || tag == "tag:yaml.org,2002:str";
}

std::string text_of(const YAML::Node& node, const std::string& name) {
  if (!is_text(node)) wrong(node, name + " is not text (text can be put in quotes)");
  return node.Scalar();
}

std::string quoted(const std::string& key) { return "'" + key + "'"; }

using Visitor = std::function<void(const std::string& key, const YAML::Node& place, const YAML::Node& value)>;

// Calls `visitor` for each key of the mapping `name` (empty: the file). A duplicate key is an error.
void visit_keys(const YAML::Node& map, const std::string& name, const Visitor& visitor) {
  const std::string shown = name.empty() ? "the file" : quoted(name);
  if (!map.IsMap() || (map.Tag() != "?" && map.Tag() != "tag:yaml.org,2002:map")) {
    wrong(map, shown + " is not a mapping");
  }
  std::set<std::string> seen;
  for (const auto& entry : map) {
    const std::string key = text_of(entry.first, "a key of " + shown);
    const std::string full = quoted(name.empty() ? key : name + "." + key);
    if (!seen.insert(key).second) wrong(entry.first, "duplicate key " + full);
    visitor(key, entry.first, entry.second);
  }
}

void check_content(const YAML::Node& place, const std::string& name, const YAML::Node& value) {
  const bool empty_map = value.IsMap() && value.size() == 0;
  if (value.IsNull() || empty_map) wrong(place, quoted(name) + " is empty");
}

using Setter = std::function<void(const YAML::Node& value)>;

// Calls the setter of each key of `map`; fails at the first key that has none.
void take_keys(const YAML::Node& map, const std::string& name, const std::map<std::string, Setter>& setters) {
  visit_keys(map, name, [&](const std::string& key, const YAML::Node& place, const YAML::Node& value) {
    const std::string full = name.empty() ? key : name + "." + key;
    const auto setter = setters.find(key);
    if (setter == setters.end()) wrong(place, "unknown key " + quoted(full));
    check_content(place, full, value);
    setter->second(value);
  });
}

bool flag_of(const YAML::Node& node, const std::string& name) {
  const std::string text = node.IsScalar() && node.Tag() == "?" ? node.Scalar() : "";
  if (text == "true") return true;
  if (text != "false") wrong(node, quoted(name) + " is neither true nor false");
  return false;
}

// Looks up `node` in a table of words.
template <class Value, std::size_t count>
Value one_of(const YAML::Node& node, const std::string& name,
             const std::array<std::pair<std::string_view, Value>, count>& words) {
  const std::string text = text_of(node, quoted(name));
  for (const auto& [word, value] : words) {
    if (text == word) return value;
  }
  wrong(node, quoted(name) + " cannot be " + quoted(text) + " here");
}

Setter refuse(const std::string& name) {
  return
      [name](const YAML::Node& node) { wrong(node, quoted(name) + " is not supported by keplerd-exporter"); };
}

// An empty list requests nothing.
Setter refuse_entries(const std::string& name) {
  return [name](const YAML::Node& node) {
    if (!node.IsSequence() || node.size() > 0) refuse(name)(node);
  };
}

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
               {"rate_limit", refuse("rate_limit")}});
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
               {"cipher_suites", refuse_entries(tls("cipher_suites"))},
               {"curve_preferences", refuse_entries(tls("curve_preferences"))},
               {"client_allowed_sans", refuse_entries(tls("client_allowed_sans"))}});
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
