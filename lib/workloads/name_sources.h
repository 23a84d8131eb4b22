// SPDX-License-Identifier: Apache-2.0
// The sources of names, each with the names found in it. Used by WorkloadNames, which decides when they are
// checked. `now` is the same within a round.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "base/units.h"
#include "host/regular_file.h"
#include "workloads/name_files.h"

namespace keplerd {

// A source is checked again after kCheckPeriod, or after kRetryPeriod while the requested name is unknown.
inline constexpr Nanoseconds kCheckPeriod = std::chrono::seconds(10);
inline constexpr Nanoseconds kRetryPeriod = std::chrono::seconds(1);

inline constexpr std::size_t kMostNames = 10'000;  // remembered per source

class LastCheck {
 public:
  // Whether a check is due; if so, records it as the last one.
  bool is_due(Nanoseconds now, bool known);

 private:
  std::optional<Nanoseconds> at_;
};

// A file that contains a name, as last read.
struct NameFile {
  FileStamp stamp;
  std::optional<std::string> name;

  // Reads it again if it has changed. Without a file there is no name.
  template <class Parse>
  void read(int directory, const std::string& path, std::size_t limit, Parse parse) {
    const auto text = read_if_changed(directory, path.c_str(), limit, stamp);
    if (!text) {
      name.reset();
    } else if (*text) {
      name = parse(**text);
    }
  }
};

// The state remembered of each requested file.
template <class File>
class AskedFiles {
 public:
  // Null if too many are remembered already.
  File* ask(std::string_view id) {
    auto found = files_.find(id);
    if (found == files_.end()) {
      if (files_.size() >= kMostNames) return nullptr;
      found = files_.emplace(id, Asked()).first;
    }
    found->second.in_this_round = true;
    return &found->second.file;
  }

  // Null if it is not remembered.
  File* find(std::string_view id) {
    const auto found = files_.find(id);
    return found == files_.end() ? nullptr : &found->second.file;
  }

  // Ends the round: drops what was not requested in it.
  void end() {
    std::erase_if(files_, [](const auto& entry) { return !entry.second.in_this_round; });
    for (auto& [id, asked] : files_) asked.in_this_round = false;
  }

  template <class F>
  void for_each(F f) {
    for (auto& [id, asked] : files_) f(id, asked.file);
  }

 private:
  struct Asked {
    File file;
    bool in_this_round = false;
  };
  NamesById<Asked> files_;
};

// A directory with a file for each id: var/lib/docker/containers/ID/config.v2.json. Or with a symbolic link
// for each, whose target is then the text.
class FileForEach {
 public:
  struct Place {
    const char* directory;
    const char* prefix = "";  // precedes the id
    const char* file = "";    // what follows the id: "/config.v2.json", ".conf"
    bool is_link = false;
    std::size_t limit = 0;
    std::function<std::optional<std::string>(std::string_view text)> parse;
  };
  FileForEach(int root, Place place) : root_(root), place_(std::move(place)) {}

  // `id` becomes part of a path: the caller must validate it.
  std::optional<std::string> name(Nanoseconds now, std::string_view id);
  void end();

 private:
  struct File {
    LastCheck checked;
    NameFile content;
  };
  void read(std::string_view id, NameFile& file);

  int root_;
  Place place_;
  AskedFiles<File> files_;
  std::optional<UniqueFd> directory_;  // while a round reads it; not open if that failed
};

// A directory whose entries' names contain the names: var/log/pods.
template <class Name>
class NamingDirectory {
 public:
  using Parse = std::optional<NameById<Name>> (*)(std::string_view entry);
  NamingDirectory(int root, const char* path, Parse parse) : root_(root), path_(path), parse_(parse) {}

  std::optional<Name> name(Nanoseconds now, std::string_view id);
  void end();

 private:
  void scan();

  int root_;
  const char* path_;
  Parse parse_;
  LastCheck checked_;
  FileStamp stamp_;
  NamesById<Name> names_;
  bool asked_ = false;
};

extern template class NamingDirectory<std::string>;
extern template class NamingDirectory<PodName>;

// Podman's lists of all containers, one for each of its storage drivers; "volatile" lists those run with
// --rm.
class PodmanStorage {
 public:
  explicit PodmanStorage(int root) : root_(root) {}

  std::optional<std::string> name(Nanoseconds now, std::string_view id);
  void end();

 private:
  struct List {
    FileStamp stamp;
    NamesById<std::string> names;
  };
  static constexpr std::array kFiles = {
      "overlay-containers/containers.json", "overlay-containers/volatile-containers.json",
      "vfs-containers/containers.json",     "vfs-containers/volatile-containers.json",
      "btrfs-containers/containers.json",   "btrfs-containers/volatile-containers.json",
      "zfs-containers/containers.json",     "zfs-containers/volatile-containers.json"};

  void scan();
  std::optional<std::string> find(std::string_view id) const;

  int root_;
  LastCheck checked_;
  std::array<List, kFiles.size()> lists_;
  bool asked_ = false;
};

}  // namespace keplerd
