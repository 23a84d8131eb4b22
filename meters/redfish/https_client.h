// SPDX-License-Identifier: Apache-2.0
// Gets documents of one server over HTTPS (libcurl): its certificate is verified, redirects to other servers
// are refused, and time and size are limited.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/units.h"
#include "meters/redfish/settings.h"

namespace keplerd::redfish {

inline constexpr Nanoseconds kLongestReply = std::chrono::seconds(45);  // some take half a minute
inline constexpr std::size_t kLargestReply = 1 << 20;

class HttpsClient {
 public:
  // `authorities`: a file with the certificates of the only authorities to trust; empty: those of the system.
  HttpsClient(const Settings& settings, const std::string& authorities);
  ~HttpsClient();
  HttpsClient(const HttpsClient&) = delete;
  HttpsClient& operator=(const HttpsClient&) = delete;

  // Errors: see Fetch (discovery.h). They never contain the password.
  Result<std::string> get(const std::string& path);

 private:
  struct Transfer;
  Result<std::string> get_once(const std::string& url, std::string& redirect);

  std::unique_ptr<Transfer> transfer_;
  std::string origin_;  // "https://bmc.example"
};

}  // namespace keplerd::redfish
