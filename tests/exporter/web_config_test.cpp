// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/web_config.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd::exporter::http {
namespace {

using testing::ElementsAre;

constexpr char kHash[] = "$2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi";

std::string error_of(const std::string& text) {
  const auto config = parse_web_config(text, "/etc/x");
  return config ? "none" : config.error().message;
}

TEST(WebConfig, AnEmptyOneRequiresNothing) {
  for (const char* text : {"", "\n# nothing\n", "---\n", "{}", "\xef\xbb\xbf# with a byte order mark\r\n"}) {
    const auto config = parse_web_config(text, "/etc/x");
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_FALSE(config->has_tls);
    EXPECT_FALSE(config->authenticates());
  }
}

TEST(WebConfig, TakesWhatExporterToolkitDocuments) {
  const auto config =
      parse_web_config(std::string("tls_server_config:\n"
                                   "  cert_file: server.crt\n"
                                   "  key_file: /keys/server.key\n"
                                   "  client_auth_type: RequireAndVerifyClientCert\n"
                                   "  client_ca_file: ca.crt\n"
                                   "  min_version: TLS13\n"
                                   "  max_version: TLS13\n"
                                   "  prefer_server_cipher_suites: true\n"
                                   "  cipher_suites:\n"
                                   "    - TLS_AES_128_GCM_SHA256\n"
                                   "    - TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256\n"
                                   "  curve_preferences: [X25519, CurveP256]\n"
                                   "  client_allowed_sans: [prometheus.example, \"10\", '::1']\n"
                                   "rate_limit: {interval: 1m30s, burst: 20}\n"
                                   "http_server_config:\n"
                                   "  http2: false\n"
                                   "  headers:\n"
                                   "    X-Frame-Options: deny\n"
                                   "    Strict-Transport-Security: max-age=5\n"
                                   "basic_auth_users:\n"
                                   "  alice: ") +
                           kHash + "\n  \"bob c\": \"" + kHash + "\"\n",
                       "/etc/x");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_TRUE(config->has_tls);
  EXPECT_TRUE(config->authenticates());
  EXPECT_EQ(config->tls.cert_file, "/etc/x/server.crt");
  EXPECT_EQ(config->tls.key_file, "/keys/server.key");
  EXPECT_EQ(config->tls.client_ca_file, "/etc/x/ca.crt");
  EXPECT_EQ(config->tls.clients, ClientCertificates::kRequire);
  EXPECT_EQ(config->tls.min_version, 13);
  EXPECT_TRUE(config->tls.server_order);
  EXPECT_THAT(config->tls.cipher_suites,
              ElementsAre("TLS_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"));
  EXPECT_THAT(config->tls.curves, ElementsAre("X25519", "CurveP256"));
  EXPECT_THAT(config->tls.client_names, ElementsAre("prometheus.example", "10", "::1"));
  EXPECT_EQ(config->rate_limit->interval, std::chrono::seconds(90));
  EXPECT_EQ(config->rate_limit->burst, 20);
  EXPECT_EQ(config->headers.at("X-Frame-Options"), "deny");
  EXPECT_EQ(config->users.at("bob c"), kHash);
}

TEST(WebConfig, TlsAloneDoesNotAuthenticateClients) {
  const auto config = parse_web_config("tls_server_config: {cert_file: a, key_file: b}", ".");
  ASSERT_TRUE(config);
  EXPECT_TRUE(config->has_tls);
  EXPECT_FALSE(config->authenticates());
  EXPECT_EQ(config->tls.min_version, 12);
  EXPECT_FALSE(
      parse_web_config("tls_server_config: {cert_file: a, key_file: b, client_ca_file: c, client_auth_type: "
                       "VerifyClientCertIfGiven}",
                       ".")
          ->authenticates());
}

TEST(WebConfig, AnUnknownKeyIsNamedWithItsLine) {
  EXPECT_EQ(error_of("\nbasic_auth_user: {}\n"), "2: unknown key 'basic_auth_user'");
  EXPECT_EQ(error_of("tls_server_config:\n  cert_file: a\n  cert: b\n"),
            "3: unknown key 'tls_server_config.cert'");
  EXPECT_EQ(error_of("http_server_config: {headers: {X-Evil: y}}\n"),
            "1: unknown key 'http_server_config.headers.X-Evil'");
}

TEST(WebConfig, WhatCannotBeDoneIsRefusedAndNotIgnored) {
  const std::string tls = "tls_server_config:\n  cert_file: a\n  key_file: b\n  ";
  for (const char* unknown : {"TLS_RSA_WITH_RC4_128_SHA", "tls_aes_128_gcm_sha256", "AES-128-GCM", "''"}) {
    const std::string name = unknown == std::string("''") ? "" : unknown;
    EXPECT_EQ(error_of(tls + "cipher_suites: [TLS_AES_128_GCM_SHA256, " + unknown + "]\n"),
              "4: 'tls_server_config.cipher_suites' cannot be '" + name + "' here");
  }
  EXPECT_EQ(error_of(tls + "curve_preferences: [CurveP256, X448]\n"),
            "4: 'tls_server_config.curve_preferences' cannot be 'X448' here");
  EXPECT_EQ(error_of(tls + "client_auth_type: RequireAnyClientCert\n"),
            "4: 'tls_server_config.client_auth_type' cannot be 'RequireAnyClientCert' here");
  EXPECT_EQ(error_of(tls + "min_version: SSL3\n"),
            "4: 'tls_server_config.min_version' cannot be 'SSL3' here");
}

TEST(WebConfig, ListsAreListsOfText) {
  const std::string tls = "tls_server_config:\n  cert_file: a\n  key_file: b\n  ";
  for (const char* key : {"cipher_suites", "curve_preferences", "client_allowed_sans"}) {
    const std::string name = std::string("'tls_server_config.") + key + "'";
    EXPECT_EQ(error_of(tls + key + ": CurveP256\n"), "4: " + name + " is not a list");
    EXPECT_EQ(error_of(tls + key + ": [5]\n"),
              "4: an entry of " + name + " is not text (text can be put in quotes)");
    EXPECT_EQ(error_of(tls + key + ": [[a]]\n"),
              "4: an entry of " + name + " is not text (text can be put in quotes)");
  }
  EXPECT_EQ(error_of(tls + "cipher_suites: []\n"), "none") << "the defaults";
  EXPECT_EQ(error_of(tls + "curve_preferences: []\n"), "none");
}

TEST(WebConfig, NamesOfClientsNeedCertificatesOfClients) {
  const std::string tls = "tls_server_config:\n  cert_file: a\n  key_file: b\n";
  const std::string clients = "  client_ca_file: c\n  client_auth_type: RequireAndVerifyClientCert\n";
  EXPECT_EQ(error_of(tls + clients + "  client_allowed_sans: [x]\n"), "none");
  EXPECT_EQ(error_of(tls + "  client_allowed_sans: [x]\n"),
            "2: client_allowed_sans needs a client_auth_type");
  EXPECT_EQ(error_of(tls + clients + "  client_allowed_sans: []\n"),
            "6: 'tls_server_config.client_allowed_sans' is empty");
}

TEST(WebConfig, ARateLimitIsWholeOrZero) {
  const auto limit_of = [](const std::string& text) { return parse_web_config(text, ".")->rate_limit; };
  EXPECT_EQ(limit_of("rate_limit: {interval: 100ms, burst: 1}")->interval, std::chrono::milliseconds(100));
  EXPECT_FALSE(limit_of("rate_limit: {interval: 0, burst: 0}"));
  EXPECT_FALSE(limit_of("rate_limit: {interval: 0s, burst: 5}"));
  EXPECT_EQ(error_of("rate_limit:\n  burst: 3\n"), "2: 'rate_limit' has no interval");
  EXPECT_EQ(error_of("rate_limit: {interval: 1s}"),
            "1: 'rate_limit' with a burst of 0 would refuse every request");
  for (const char* interval : {"5", "-1s", "1 s", "1d", "s", "2h", "[1s]", "61m"}) {
    EXPECT_EQ(error_of(std::string("rate_limit: {burst: 1, interval: ") + interval + "}"),
              "1: 'rate_limit.interval' is not a duration such as 100ms or 1m30s, of at most 1h")
        << interval;
  }
  for (const char* burst : {"-1", "1.5", "x", "1000001", "[1]"}) {
    EXPECT_EQ(error_of(std::string("rate_limit: {interval: 1s, burst: ") + burst + "}"),
              "1: 'rate_limit.burst' is not a number from 0 to 1000000")
        << burst;
  }
}

TEST(WebConfig, IncompleteSettingsAreRefused) {
  EXPECT_EQ(error_of("tls_server_config: {key_file: b}"), "1: 'tls_server_config' has no cert_file");
  EXPECT_EQ(error_of("tls_server_config: {cert_file: b}"), "1: 'tls_server_config' has no key_file");
  const std::string tls = "tls_server_config: {cert_file: a, key_file: b, ";
  EXPECT_EQ(error_of(tls + "client_auth_type: RequireAndVerifyClientCert}"),
            "1: this client_auth_type needs a client_ca_file");
  EXPECT_EQ(error_of(tls + "client_ca_file: c}"), "1: a client_ca_file needs a client_auth_type");
  EXPECT_EQ(error_of(tls + "min_version: TLS13, max_version: TLS12}"),
            "1: min_version is greater than max_version");
}

TEST(WebConfig, APasswordIsABcryptHashThatCanBeComputedInTime) {
  for (const char* wrong : {"secret", "\"\"", "$apr1$x$y", "$2y$10$short",
                            "$2y$03$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi",
                            "$2y$1x$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi"}) {
    EXPECT_EQ(error_of(std::string("basic_auth_users:\n  eve: ") + wrong),
              "2: the password of 'eve' is no bcrypt hash");
  }
  std::string slow = kHash;
  slow.replace(4, 2, "17");
  EXPECT_EQ(error_of("basic_auth_users:\n  eve: " + slow), "2: the bcrypt hash of 'eve' costs more than 16");
}

TEST(WebConfig, AKeyWithoutContentIsRefusedSinceItReadsAsIfItProtected) {
  EXPECT_EQ(error_of("tls_server_config:\n"), "1: 'tls_server_config' is empty");
  EXPECT_EQ(error_of("\ntls_server_config: {}\n"), "2: 'tls_server_config' is empty");
  EXPECT_EQ(error_of("tls_server_config: ~\n"), "1: 'tls_server_config' is empty");
  EXPECT_EQ(error_of("\nbasic_auth_users:\n\nhttp_server_config: {http2: true}\n"),
            "2: 'basic_auth_users' is empty");
  EXPECT_EQ(error_of("basic_auth_users: {}\n"), "1: 'basic_auth_users' is empty");
  EXPECT_EQ(error_of("http_server_config:\n  headers:\n"), "2: 'http_server_config.headers' is empty");
  EXPECT_EQ(error_of("rate_limit:\n"), "1: 'rate_limit' is empty");
  EXPECT_EQ(error_of("basic_auth_users:\n  eve:\n"), "2: 'basic_auth_users.eve' is empty");
  const std::string tls = "tls_server_config:\n  cert_file: a\n  key_file: b\n  ";
  EXPECT_EQ(error_of(tls + "min_version:\n"), "4: 'tls_server_config.min_version' is empty");
  EXPECT_EQ(error_of(tls + "client_ca_file: \"\"\n"), "4: 'tls_server_config.client_ca_file' is empty");
  EXPECT_EQ(error_of(tls + "client_allowed_sans: null\n"),
            "4: 'tls_server_config.client_allowed_sans' is empty");
}

TEST(WebConfig, ADuplicateKeyIsRefused) {
  const std::string tls = "tls_server_config:\n  cert_file: a\n  key_file: b\n";
  EXPECT_EQ(error_of(tls), "none");
  EXPECT_EQ(error_of(tls + tls), "4: duplicate key 'tls_server_config'");
  EXPECT_EQ(error_of(tls + "? tls_server_config\n"), "4: duplicate key 'tls_server_config'");
  EXPECT_EQ(error_of(tls + "  key_file: b\n"), "4: duplicate key 'tls_server_config.key_file'");
  EXPECT_EQ(error_of(tls + "\"tls_server_config\": {cert_file: a, key_file: b}\n"),
            "4: duplicate key 'tls_server_config'");
  const std::string users = std::string("basic_auth_users:\n  eve: ") + kHash + "\n";
  EXPECT_EQ(error_of(users), "none");
  EXPECT_EQ(error_of(users + "  'eve': " + kHash + "\n"), "3: duplicate key 'basic_auth_users.eve'");
  EXPECT_EQ(
      error_of("http_server_config:\n  headers:\n    X-Frame-Options: deny\n    X-Frame-Options: deny\n"),
      "4: duplicate key 'http_server_config.headers.X-Frame-Options'");
}

TEST(WebConfig, AValueOfAnotherTypeIsRefused) {
  const std::string tls = "tls_server_config:\n  key_file: b\n  cert_file: ";
  for (const char* other :
       {"5", "1.5", "0x1f", "true", "no", ".inf", "<<", "!!int a", "!secret a", "!!binary YQ=="}) {
    EXPECT_EQ(error_of(tls + other),
              "3: 'tls_server_config.cert_file' is not text (text can be put in quotes)")
        << other;
  }
  for (const char* text : {"\"5\"", "'true'", "!!str 5", "|\n    a", "5a", "on.crt"}) {
    EXPECT_EQ(error_of(tls + text), "none") << text;
  }
  EXPECT_EQ(error_of(tls + "[a]"),
            "3: 'tls_server_config.cert_file' is not text (text can be put in quotes)");
  EXPECT_EQ(error_of(tls + "a\n  prefer_server_cipher_suites: \"true\"\n"),
            "4: 'tls_server_config.prefer_server_cipher_suites' is neither true nor false");
  EXPECT_EQ(error_of("tls_server_config: !other {cert_file: a, key_file: b}"),
            "1: 'tls_server_config' is not a mapping");
  EXPECT_EQ(error_of("tls_server_config: []"), "1: 'tls_server_config' is not a mapping");
  EXPECT_EQ(error_of("rate_limit: []"), "1: 'rate_limit' is not a mapping");
  EXPECT_EQ(error_of(std::string("basic_auth_users: {true: ") + kHash + "}"),
            "1: a key of 'basic_auth_users' is not text (text can be put in quotes)");
  EXPECT_EQ(error_of("5: 6"), "1: a key of the file is not text (text can be put in quotes)");
  EXPECT_EQ(error_of("http_server_config: {headers: {X-XSS-Protection: 0}}"), "none")
      << "the header's best value, which everybody writes so";
}

TEST(WebConfig, NothingOfTheFileIsPassedOver) {
  const std::string tls = "tls_server_config: {cert_file: a, key_file: b}\n";
  EXPECT_EQ(error_of("---\n{}\n---\n" + tls), "3: a second document begins here");
  EXPECT_EQ(error_of("{}\n" + tls).substr(0, 3), "2: ");
  EXPECT_EQ(error_of("# a comment\n...\n" + tls + "...\n" + tls), "3: a second document begins here");
}

TEST(WebConfig, ATextThatYamlCppTakesForDocumentsWithoutEndIsRefused) {
  EXPECT_EQ(error_of(", "), "1: a second document begins here");
}

TEST(WebConfig, AnythingButPrintableUtf8IsRefused) {
  const std::string what = "only printable UTF-8 is allowed here";
  EXPECT_EQ(error_of("# \xff\n"), "1: " + what);
  EXPECT_EQ(error_of("\n# cut: \xe2\x82\n"), "2: " + what);
  EXPECT_EQ(error_of("# surrogate: \xed\xa0\x80\n"), "1: " + what);
  EXPECT_EQ(error_of(std::string("\n# NUL: \0\n", 10)), "2: " + what);
  EXPECT_EQ(error_of("# \x1b[1A\n"), "1: " + what);
  EXPECT_EQ(error_of("# a line of its own for YAML 1.1:\xe2\x80\xa8tls_server_config:\n"), "1: " + what);
  EXPECT_EQ(error_of("# a return alone\rtls_server_config:\n"), "1: " + what);
  EXPECT_EQ(error_of("# \xef\xbb\xbf a byte order mark within\n"), "1: " + what);
  EXPECT_EQ(error_of(std::string("\xff\xfe{\0}\0", 6)), "1: " + what) << "UTF-16";
  EXPECT_EQ(error_of("# \xc3\xa4\t\xe2\x82\xac \xf0\x9f\x98\x80\r\n"), "none");
}

TEST(WebConfig, WhatTheFuzzerFoundToServeWithoutTlsIsRefused) {
  const std::string found =
      "tls_server_config:\n  #cert_file: ath_type: RequireAndVerifyClienrt\n"
      "  client_ca_file: ca.crz/\xff\xff\xfftls_se\xff\xff\x9b\xff\xff\xff\xff\ntls_server_config";
  EXPECT_EQ(error_of(found), "3: only printable UTF-8 is allowed here");
  EXPECT_EQ(error_of("tls_server_config:\n  client_ca_file: ca.crt\ntls_server_config"),
            "3: duplicate key 'tls_server_config'");
}

TEST(WebConfig, ErrorsAreOneLineWhateverTheFileHolds) {
  EXPECT_EQ(error_of("\"a\\nb\": 1"), "1: unknown key 'a\\x0ab'");
  EXPECT_EQ(error_of("tls_server_config: {client_auth_type: \"a\\e[2J\"}"),
            "1: 'tls_server_config.client_auth_type' cannot be 'a\\x1b[2J' here");
}

TEST(WebConfig, InvalidYamlAndOtherStructuresAreRefused) {
  for (const char* text :
       {"a: [", "- x", "just text", "basic_auth_users: [x]", "basic_auth_users: {a: [b]}",
        "tls_server_config: yes", "tls_server_config: {cert_file: [a]}", "{? [a] : b}",
        "http_server_config: {http2: maybe}",
        "http_server_config: {headers: {X-Frame-Options: \"a\\r\\nb\"}}", "a: &x [*x]", "*x"}) {
    EXPECT_NE(error_of(text), "none") << text;
  }
}

TEST(WebConfig, ErrorsOfAFileBeginWithItsName) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("keplerd-web-" + std::to_string(::getpid()));
  EXPECT_EQ(load_web_config(path).error().message, path + ": No such file or directory");
  std::ofstream(path) << "x: 1\n";
  EXPECT_EQ(load_web_config(path).error().message, path + ":1: unknown key 'x'");
  std::ofstream(path) << std::string((1 << 20) + 1, '#');
  EXPECT_EQ(load_web_config(path).error().message, path + ": more than a megabyte");
  std::filesystem::remove(path);
  EXPECT_FALSE(load_web_config("/")) << "a directory";
}

}  // namespace
}  // namespace keplerd::exporter::http
