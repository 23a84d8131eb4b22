// SPDX-License-Identifier: Apache-2.0
#include "cli/run/scope_processes.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/parse.h"
#include "base/text.h"
#include "cli/run/files.h"
#include "host/host_root.h"

namespace keplerd::cli::run {

std::string_view cgroup2_path(std::string_view proc_cgroup) {
  while (!proc_cgroup.empty()) {
    std::string_view line = take_until(proc_cgroup, '\n');
    if (take_prefix(line, "0::")) return line;
  }
  return {};
}

Result<std::string> scope_directory(pid_t process, std::string_view scope) {
  const auto text = read_file("/proc/" + std::to_string(process) + "/cgroup");
  if (!text) return text.error();
  const std::string path(cgroup2_path(*text));
  // Only what the manager has put it into: in any other group would be processes that are not of the command.
  if (!path.ends_with("/" + std::string(scope)))
    return Error{"its cgroup is " + escape_name(path) + ", not the scope"};
  const auto host = HostRoot::open({});
  if (!host) return host.error();
  const auto& root = host->paths().cgroupfs;
  if (!root) return Error{"no cgroup2 is mounted"};
  std::string directory = *root + path;
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error)) return system_error(escape_name(directory), ENOENT);
  return directory;
}

namespace {

std::optional<pid_t> find_in(const std::filesystem::path& directory, pid_t except) {
  std::ifstream processes(directory / "cgroup.procs");
  for (pid_t pid = 0; processes >> pid;)
    if (pid != except) return pid;
  return std::nullopt;
}

}  // namespace

std::optional<pid_t> find_process(const std::string& directory, pid_t except) {
  if (const auto found = find_in(directory, except)) return found;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(directory, error), end;
  while (!error && entry != end) {
    std::error_code gone;
    if (entry->is_directory(gone)) {
      if (const auto found = find_in(entry->path(), except)) return found;
    }
    entry.increment(error);
  }
  return std::nullopt;
}

}  // namespace keplerd::cli::run
