// SPDX-License-Identifier: Apache-2.0
// Finds the names of applications in the directories of desktop files.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace keplerd::cli::apps {

// Where desktop files are, in the order of precedence. Of the user who runs this only: what other users keep
// in their homes is not read.
struct DesktopDirectories {
  std::vector<std::string> own;     // below the user's home
  std::vector<std::string> common;  // of the system

  // $XDG_DATA_HOME, $XDG_DATA_DIRS, the exports of flatpak and the directory of snapd.
  static DesktopDirectories of_environment();
};

class DesktopFiles {
 public:
  DesktopFiles(DesktopDirectories directories, std::vector<std::string> locales)
      : directories_(std::move(directories)), locales_(std::move(locales)) {}

  struct App {
    std::string id;  // of `ids`, safe for display
    std::string name;
  };
  // The first of `ids`, of which there is at least one, that has a desktop file with a name. If none has, the
  // most likely one, under its id. `own`: of the user who runs this.
  App find(const std::vector<std::string>& ids, bool own);

 private:
  std::optional<std::string> name_of(const std::string& id, bool own);

  DesktopDirectories directories_;
  std::vector<std::string> locales_;
  std::map<std::pair<std::string, bool>, std::optional<std::string>> known_;
};

// $LC_ALL, $LC_MESSAGES or $LANG.
std::string message_locale();

}  // namespace keplerd::cli::apps
