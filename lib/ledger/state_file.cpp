// SPDX-License-Identifier: Apache-2.0
#include "ledger/state_file.h"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

#include "base/replace_file.h"
#include "host/kept_file.h"

namespace keplerd {
namespace {

constexpr std::size_t kLimit = 256 << 20;

// Makes the rename itself durable.
Result<Done> sync_directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const auto fd = open_directory(AT_FDCWD, directory.c_str());
  if (!fd) return fd.error();
  if (::fsync(fd->get()) != 0) return system_error(directory, errno);
  return Done{};
}

}  // namespace

Result<Done> save_state(const std::string& path, const LedgerState& state) {
  const auto replaced = replace_file(path, format_state(state), O_WRONLY, Sync::kBefore);
  if (!replaced) return replaced.error();
  (void)sync_directory_of(path);
  return Done{};
}

Result<Done> rename_state(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return system_error(to, errno);
  return sync_directory_of(to);
}

Result<LoadedState> load_state(const std::string& path) {
  const auto text = read_text(AT_FDCWD, path.c_str(), kLimit);
  if (!text && text.error().code == ENOENT) return LoadedState{};
  if (!text) return text.error();
  auto state = parse_state(*text);
  if (state) return LoadedState{*std::move(state), std::nullopt};

  const std::string aside = path + ".corrupt";
  if (::rename(path.c_str(), aside.c_str()) != 0) return system_error(path, errno);
  return LoadedState{std::nullopt, path + ": " + state.error().message + "; kept as " + aside};
}

}  // namespace keplerd
