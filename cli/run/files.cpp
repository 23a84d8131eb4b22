// SPDX-License-Identifier: Apache-2.0
#include "cli/run/files.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/read_all.h"
#include "base/unique_fd.h"
#include "base/write_all.h"
#include "cli/run/series.h"
#include "varlink/parse_json.h"

namespace keplerd::cli::run {
namespace {

constexpr std::size_t kMostBytes = 64 << 20;
constexpr mode_t kUsualMode = 0666;  // less the umask

Result<Done> replace_contents(int fd, std::string_view text, const std::string& path) {
  if (lseek(fd, 0, SEEK_SET) < 0) return system_error(path, errno);
  if (auto written = write_all(fd, text, path); !written) return written;
  if (ftruncate(fd, static_cast<off_t>(text.size())) != 0) return system_error(path, errno);
  return Done{};
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return system_error(path, errno);
  return read_all(fd.get(), kMostBytes, path);
}

Result<varlink::Json> read_result(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  auto json = varlink::parse_json(*text);
  if (!json) return Error{path + ": " + json.error().message};
  return json;
}

Result<Done> append_to_file(const std::string& path, const varlink::Json& run) {
  const UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kUsualMode));
  if (!fd) return system_error(path, errno);
  while (flock(fd.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return system_error(path, errno);
  }
  const auto before = read_all(fd.get(), kMostBytes, path);
  if (!before) return before.error();
  const auto after = append_phase(*before, run);
  if (!after) return Error{path + ": " + after.error().message};
  if (auto written = replace_contents(fd.get(), *after, path); !written) {
    // The room for what was there is still its own.
    (void)replace_contents(fd.get(), *before, path);
    return written;
  }
  return Done{};
}

Result<UniqueFd> create_file(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kUsualMode));
  if (!fd) return system_error(path, errno);
  return fd;
}

}  // namespace keplerd::cli::run
