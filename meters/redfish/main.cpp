// SPDX-License-Identifier: Apache-2.0
// keplerd-redfish: reads the power of this host from the Redfish service of its management controller, for
// keplerd. A process of its own, because it needs the network and a password, and because services take
// seconds to answer.
#include <cerrno>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <sysexits.h>

#include "event/stderr_log.h"
#include "host/kept_file.h"
#include "meters/polling.h"
#include "meters/redfish/https_client.h"
#include "meters/redfish/reader.h"
#include "meters/redfish/settings.h"

namespace {

using namespace keplerd;

constexpr char kCredential[] = "keplerd-redfish", kAuthorities[] = "keplerd-redfish-ca";
constexpr std::size_t kLargestCredential = 64 << 10;

Result<redfish::Settings> load_settings(const std::string& credentials) {
  const std::string path = credentials + "/" + kCredential;
  const auto text =
      credentials.empty() ? Error{.code = ENOENT} : read_text(AT_FDCWD, path.c_str(), kLargestCredential);
  if (!text && text.error().code == ENOENT)
    return Error{.message =
                     "there is no credential: write /etc/credstore/keplerd-redfish, see keplerd-redfish(8)"};
  if (!text) return text.error();
  auto settings = redfish::parse_settings(*text);
  if (!settings)
    return Error{.message = std::string("credential ") + kCredential + ": " + settings.error().message};
  return settings;
}

int run() {
  const std::string credentials = meters::directory_in("CREDENTIALS_DIRECTORY", "");
  const auto settings = load_settings(credentials);
  if (!settings) {
    stderr_log::log_error(settings.error().message);
    return EX_CONFIG;
  }
  const std::string authorities = credentials + "/" + kAuthorities;
  redfish::HttpsClient client(*settings, std::filesystem::exists(authorities) ? authorities : "");
  redfish::Reader reader(
      *settings, [&client](const std::string& path) { return client.get(path); }, meters::boot_microseconds);
  meters::publish(meters::directory_in("RUNTIME_DIRECTORY", "/run/keplerd-meters/redfish"),
                  [&reader] { return reader.poll(); });
}

}  // namespace

int main(int argc, char**) { return keplerd::meters::run_program("keplerd-redfish", argc, run); }
