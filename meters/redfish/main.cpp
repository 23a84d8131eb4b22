// SPDX-License-Identifier: Apache-2.0
// keplerd-redfish: reads the power of this host from the Redfish service of its management controller, for
// keplerd. A process of its own, because it needs the network and a password, and because services take
// seconds to answer.
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>

#include <fcntl.h>
#include <sysexits.h>

#include "event/stderr_log.h"
#include "host/kept_file.h"
#include "meters/meter_writer.h"
#include "meters/problem_report.h"
#include "meters/redfish/https_client.h"
#include "meters/redfish/reader.h"
#include "meters/redfish/settings.h"

namespace {

using namespace keplerd;

constexpr char kCredential[] = "keplerd-redfish", kAuthorities[] = "keplerd-redfish-ca";
constexpr std::size_t kLargestCredential = 64 << 10;

// systemd sets these variables.
std::string directory_in(const char* variable, const char* otherwise) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? value : otherwise;
}

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
  const std::string directory = directory_in("RUNTIME_DIRECTORY", "/run/keplerd-meters/redfish");
  const std::string credentials = directory_in("CREDENTIALS_DIRECTORY", "");
  const auto settings = load_settings(credentials);
  if (!settings) {
    stderr_log::log_error(settings.error().message);
    return EX_CONFIG;
  }
  meters::ProblemReport report(meters::report_in(directory));
  const std::string authorities = credentials + "/" + kAuthorities;
  redfish::HttpsClient client(*settings, std::filesystem::exists(authorities) ? authorities : "");
  redfish::Reader reader(
      *settings, [&client](const std::string& path) { return client.get(path); }, meters::boot_microseconds);
  while (true) {
    redfish::Poll poll = reader.poll();
    if (poll.problem.empty()) {
      if (const auto written = meters::write_meters(directory, poll.meters); !written)
        poll.problem = written.error().message;
    }
    report.set(poll.problem);
    meters::pause(poll.pause);
  }
}

}  // namespace

int main(int argc, char**) {
  if (argc > 1) {
    std::cerr << "keplerd-redfish: it has no options; see keplerd-redfish(8)\n";
    return EX_USAGE;
  }
  try {
    return run();
  } catch (const std::exception& exception) {
    stderr_log::log_error(exception.what());
    return EXIT_FAILURE;
  }
}
