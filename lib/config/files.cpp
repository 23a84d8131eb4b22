// SPDX-License-Identifier: Apache-2.0
#include "config/files.h"

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/read_all.h"
#include "base/text.h"
#include "base/unique_fd.h"

namespace keplerd {
namespace {

constexpr std::size_t kLargestFile = 1 << 20;

Error file_error(const std::string& path, int code) { return system_error(escape_name(path), code); }

// Whether `status` is of something to read. /dev/null is not, but no error either.
Result<bool> has_content(const std::string& path, const struct stat& status) {
  if (S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3)) return false;
  if (S_ISDIR(status.st_mode)) return file_error(path, EISDIR);
  if (!S_ISREG(status.st_mode)) return Error{escape_name(path) + ": not a regular file"};
  return true;
}

// The whole file; empty for /dev/null.
Result<std::string> read_file(const std::string& path) {
  // Not to hang on a FIFO that somebody put there.
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) < 0) return file_error(path, errno);
  const auto content = has_content(path, status);
  if (!content) return content.error();
  if (!*content) return std::string();

  auto text = read_all(fd.get(), kLargestFile, escape_name(path));
  if (!text && text.error().code == EFBIG) return Error{escape_name(path) + ": larger than 1 MiB"};
  return text;
}

bool is_absent(int code) { return code == ENOENT || code == ENOTDIR; }

// Adds the drop-ins of one directory of which no stronger one has the name.
Result<Done> find_drop_ins(const std::string& directory, std::map<std::string, std::string>& path_by_name) {
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  while (!error && entry != std::filesystem::directory_iterator()) {
    std::string name = entry->path().filename();
    if (name.front() != '.' && name.ends_with(".conf"))
      path_by_name.try_emplace(std::move(name), entry->path());
    entry.increment(error);
  }
  if (error && !is_absent(error.value())) return file_error(directory, error.value());
  return Done{};
}

}  // namespace

Result<Done> apply_config_file(const std::string& path, const ApplyFile& apply) {
  const auto text = read_file(path);
  if (!text) return text.error();
  return text->empty() ? Done{} : apply(*text, path);
}

Result<Done> apply_config_files(const std::vector<std::string>& directories, const std::string& name,
                                const ApplyFile& apply) {
  for (const auto& directory : directories) {
    const auto main_file = apply_config_file(fmt::format("{}/keplerd/{}", directory, name), apply);
    if (main_file) break;
    if (!is_absent(main_file.error().code)) return main_file;
  }

  std::map<std::string, std::string> path_by_name;
  for (const auto& directory : directories) {
    const auto found = find_drop_ins(fmt::format("{}/keplerd/{}.d", directory, name), path_by_name);
    if (!found) return found;
  }
  for (const auto& [drop_in, path] : path_by_name) {
    if (auto applied = apply_config_file(path, apply); !applied) return applied;
  }
  return Done{};
}

}  // namespace keplerd
