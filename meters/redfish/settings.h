// SPDX-License-Identifier: Apache-2.0
// The credential of keplerd-redfish, which systemd passes to it: where the service is, and as whom to log in.
// Lines "Key=value", in which all of the value counts, as passwords have characters of any kind; white space
// around keys and values, empty lines and lines that begin with "#" do not. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace keplerd::redfish {

struct Settings {
  std::string host;  // "bmc.example", "192.0.2.7:8443" or "[2001:db8::7]"
  std::string user, password;
  Nanoseconds interval = std::chrono::seconds(10);
  std::vector<std::string> chassis;  // ids; empty: all of the host
};

// Errors have the line, and never a value: it may be the password.
Result<Settings> parse_settings(std::string_view text);

}  // namespace keplerd::redfish
