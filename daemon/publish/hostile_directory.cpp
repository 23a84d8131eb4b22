// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/hostile_directory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/parse.h"
#include "base/write_all.h"
#include "host/kept_file.h"

namespace keplerd {
namespace {

constexpr mode_t kDirectoryMode = 0755;
constexpr mode_t kFileMode = 0444;
constexpr char kDraft[] = ".new";

UniqueFd open_directory_here(int parent, const char* name) {
  return UniqueFd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// At most `most` names of entries in the directory.
std::vector<std::string> names_in(int directory, std::size_t most) {
  auto names = list_directory(directory, ".", most);
  return names ? *std::move(names) : std::vector<std::string>{};
}

// Moves the directory `name` of `from` to the top, under an unused name.
bool move_up(int from, const std::string& name, int top, std::size_t& budget) {
  for (unsigned number = 0; budget > 0; ++number, --budget) {
    const std::string place = ".old" + std::to_string(number);
    if (::renameat2(from, name.c_str(), top, place.c_str(), RENAME_NOREPLACE) == 0) return true;
    if (errno != EEXIST) return false;
  }
  return false;
}

// Empties and removes the directory `name` of `top`; subdirectories are moved to `top`, so that any depth
// needs only two descriptors.
bool remove_directory(int top, const std::string& name, std::size_t& budget) {
  if (::unlinkat(top, name.c_str(), AT_REMOVEDIR) == 0) return true;
  const UniqueFd directory = open_directory_here(top, name.c_str());
  if (!directory) return false;
  for (const std::string& entry : names_in(directory.get(), budget)) {
    if (budget == 0) return false;
    --budget;
    if (::unlinkat(directory.get(), entry.c_str(), 0) == 0 || errno == ENOENT) continue;
    if (!move_up(directory.get(), entry, top, budget)) return false;
  }
  return ::unlinkat(top, name.c_str(), AT_REMOVEDIR) == 0;
}

}  // namespace

Result<UniqueFd> open_inner_directory(int parent, const std::string& name) {
  UniqueFd fd = open_directory_here(parent, name.c_str());
  if (!fd) return system_error(name, errno);
  return fd;
}

Result<UniqueFd> open_or_make_directory(int parent, const std::string& name) {
  const bool made = ::mkdirat(parent, name.c_str(), kDirectoryMode) == 0;
  if (!made && errno != EEXIST) return system_error(name, errno);
  auto fd = open_inner_directory(parent, name);
  // Independent of the umask.
  if (fd && made && ::fchmod(fd->get(), kDirectoryMode) != 0) return system_error(name, errno);
  return fd;
}

Result<Done> replace_file(int directory, const std::string& name, std::string_view text) {
  ::unlinkat(directory, kDraft, 0);
  const UniqueFd draft(
      ::openat(directory, kDraft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kFileMode));
  if (!draft) return system_error(kDraft, errno);
  auto done = write_all(draft.get(), text, name);
  if (done &&
      (::fchmod(draft.get(), kFileMode) != 0 || ::renameat(directory, kDraft, directory, name.c_str()) != 0))
    done = system_error(name, errno);
  if (!done) ::unlinkat(directory, kDraft, 0);
  return done;
}

Result<Done> make_link(int directory, const std::string& name, const std::string& target) {
  if (::symlinkat(target.c_str(), directory, name.c_str()) != 0 && errno != EEXIST)
    return system_error(name, errno);
  return Done{};
}

std::optional<std::int64_t> read_count(int directory, const std::string& name, const std::string& file) {
  const UniqueFd inner = open_directory_here(directory, name.c_str());
  if (!inner) return std::nullopt;
  const UniqueFd fd(
      ::openat(inner.get(), file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  std::array<char, 32> buffer{};
  const ssize_t got = fd ? ::pread(fd.get(), buffer.data(), buffer.size(), 0) : -1;
  if (got < 0) return std::nullopt;
  const auto number =
      parse_number<std::int64_t>(trim(std::string_view(buffer.data(), static_cast<std::size_t>(got))));
  return number && *number >= 0 ? number : std::nullopt;
}

bool remove_contents(int directory, std::size_t& budget) {
  while (true) {
    const auto names = names_in(directory, std::max<std::size_t>(budget, 1));
    if (names.empty()) return true;
    bool stuck = false;  // an entry that we may not remove does not keep the others
    for (const std::string& name : names) {
      if (budget == 0) return false;
      --budget;
      if (::unlinkat(directory, name.c_str(), 0) == 0 || errno == ENOENT) continue;
      if (!remove_directory(directory, name, budget)) stuck = true;
    }
    if (stuck) return false;
  }
}

bool is_empty_directory(int directory) { return names_in(directory, 1).empty(); }

}  // namespace keplerd
