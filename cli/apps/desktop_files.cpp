// SPDX-License-Identifier: Apache-2.0
#include "cli/apps/desktop_files.h"

#include <cstdlib>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include "base/parse.h"
#include "base/read_all.h"
#include "base/unique_fd.h"
#include "cli/apps/desktop_entry.h"

namespace keplerd::cli::apps {
namespace {

constexpr std::size_t kLargestFile = 256 * 1024;
constexpr std::size_t kMostDirectories = 64;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Links are followed, since flatpak's exports are links; only a regular file is opened: not a FIFO, which
// would block, nor a device.
std::optional<std::string> read_file(const std::string& path) {
  const UniqueFd place(::open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat status {};
  if (!place || ::fstat(place.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (status.st_size > static_cast<off_t>(kLargestFile)) return std::nullopt;
  const std::string same = "/proc/self/fd/" + std::to_string(place.get());
  const UniqueFd file(::open(same.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file) return std::nullopt;
  auto text = read_all(file.get(), kLargestFile, path);
  return text ? std::optional(*std::move(text)) : std::nullopt;
}

}  // namespace

DesktopDirectories DesktopDirectories::of_environment() {
  const std::string home = variable("HOME");
  std::string data_home = variable("XDG_DATA_HOME");
  if (!data_home.starts_with('/')) data_home = home.starts_with('/') ? home + "/.local/share" : "";
  std::string data = variable("XDG_DATA_DIRS");
  if (data.empty()) data = "/usr/local/share:/usr/share";
  DesktopDirectories directories;
  if (!data_home.empty()) {
    directories.own = {data_home + "/applications", data_home + "/flatpak/exports/share/applications"};
  }
  for (std::string_view rest = data; !rest.empty() && directories.common.size() < kMostDirectories;) {
    const std::string_view directory = take_until(rest, ':');
    if (directory.starts_with('/')) directories.common.push_back(std::string(directory) + "/applications");
  }
  directories.common.emplace_back("/var/lib/flatpak/exports/share/applications");
  directories.common.emplace_back("/var/lib/snapd/desktop/applications");
  return directories;
}

DesktopFiles::App DesktopFiles::find(const std::vector<std::string>& ids, bool own) {
  for (const std::string& id : ids) {
    const auto known = known_.find({id, own});
    const auto& name = known != known_.end()
                           ? known->second
                           : known_.emplace(std::pair(id, own), name_of(id, own)).first->second;
    if (name) return {shown_name(id), *name};
  }
  return {shown_name(ids.front()), shown_name(ids.front())};
}

std::optional<std::string> DesktopFiles::name_of(const std::string& id, bool own) {
  const auto in = [&](const std::vector<std::string>& directories) -> std::optional<std::string> {
    for (const std::string& directory : directories) {
      const auto text = read_file(directory + "/" + id + ".desktop");
      auto name = text ? desktop_name(*text, locales_) : std::nullopt;
      if (name) return name;
    }
    return std::nullopt;
  };
  auto name = own ? in(directories_.own) : std::nullopt;
  return name ? name : in(directories_.common);
}

std::string message_locale() {
  for (const char* const name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    std::string value = variable(name);
    if (!value.empty()) return value;
  }
  return "";
}

}  // namespace keplerd::cli::apps
