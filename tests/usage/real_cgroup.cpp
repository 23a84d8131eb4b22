// SPDX-License-Identifier: Apache-2.0
#include "usage/real_cgroup.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/host_root.h"
#include "usage/process_stat.h"

namespace keplerd {
namespace {

namespace fs = std::filesystem;

// Depth first; a cgroup's files cannot be removed, and need not.
void remove_groups(const fs::path& path) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path, ignored)) {
    if (entry.is_directory(ignored)) remove_groups(entry.path());
  }
  ::rmdir(path.c_str());
}

bool expect_done(bool done, std::string_view what) {
  EXPECT_TRUE(done) << what << ": " << std::strerror(errno);
  return done;
}

bool write_file(const std::string& path, std::string_view text) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

}  // namespace

std::unique_ptr<RealCgroup> RealCgroup::make(std::string& why_not) {
  static int made = 0;
  const auto host = HostRoot::open({});
  if (!host || !host->cgroupfs()) {
    why_not = "this host has no cgroup2";
    return nullptr;
  }
  const std::string path =
      *host->paths().cgroupfs + "/keplerd-test-" + std::to_string(::getpid()) + "-" + std::to_string(made++);
  if (::mkdir(path.c_str(), 0755) != 0) {
    why_not = path + ": " + std::strerror(errno);
    return nullptr;
  }
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return std::unique_ptr<RealCgroup>(new RealCgroup(path, std::move(fd)));
}

RealCgroup::~RealCgroup() { remove_groups(path_); }

bool RealCgroup::add(const std::string& name) const {
  return expect_done(::mkdirat(fd_.get(), name.c_str(), 0755) == 0, "mkdir " + name);
}

bool RealCgroup::remove(const std::string& name) const {
  return expect_done(::unlinkat(fd_.get(), name.c_str(), AT_REMOVEDIR) == 0, "rmdir " + name);
}

bool RealCgroup::write(const std::string& file, std::string_view text) const {
  return expect_done(write_file(path_ + "/" + file, text), file);
}

bool RealCgroup::move(int pid, const std::string& group) const {
  return write((group.empty() ? "" : group + "/") + "cgroup.procs", std::to_string(pid));
}

bool RealCgroup::move_out(int pid) const {
  const auto host = HostRoot::open({});
  const auto text = read_text(host->procfs(), "self/cgroup", 4096);
  const std::string own(text ? parse_process_cgroup(*text) : "/");
  return expect_done(write_file(*host->paths().cgroupfs + own + "/cgroup.procs", std::to_string(pid)),
                     "moving out");
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) count += entry.path().empty() ? 0 : 1;
  return count;
}

std::size_t open_descriptors_of(int pid) {
  const std::string directory = "/proc/" + std::to_string(pid) + "/";
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code is_gone;  // the iterator's own descriptor is among them, too
    count += fs::read_symlink(entry, is_gone).string().starts_with(directory) ? 1 : 0;
  }
  return count;
}

std::size_t inotify_watches() {
  std::size_t count = 0;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator("/proc/self/fdinfo")) paths.push_back(entry.path());
  for (const auto& path : paths) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) count += line.starts_with("inotify ") ? 1 : 0;
  }
  return count;
}

}  // namespace keplerd
