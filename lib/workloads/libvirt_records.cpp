// SPDX-License-Identifier: Apache-2.0
#include "workloads/libvirt_records.h"

#include <cstring>
#include <utility>

#include <sys/stat.h>

#include "base/parse.h"
#include "host/host_root.h"
#include "host/kept_file.h"
#include "workloads/owner.h"

namespace keplerd {
namespace {

constexpr std::string_view kSuffix = ".xml";

struct Limits {
  std::size_t bytes;
  std::size_t files;
};
constexpr Limits kOfSystem = {4 << 20, 10'000};  // a VM with hundreds of disks has some 200 KiB
constexpr Limits kOfSession = {128 << 10, 32};

const Limits& limits(bool session) { return session ? kOfSession : kOfSystem; }

// Start times have a resolution of 10 ms, and file systems' clocks may be coarse.
bool is_since(Nanoseconds written, LibvirtRecords::Realtime since) {
  return written + std::chrono::seconds(2) >= since;
}

}  // namespace

LibvirtRecords LibvirtRecords::of_session(const HostRoot& host, std::uint32_t user) {
  LibvirtRecords records(host, "run/user/" + std::to_string(user) + "/libvirt/qemu/run");
  records.is_session_ = true;
  return records;
}

void LibvirtRecords::refresh(Nanoseconds now, bool expected) {
  const bool due = checked_.is_due(now, directory_ || !expected);
  if (due) find_directory();
  if (!directory_) return;
  bool changed = false;
  const bool complete = watch_.drain([&](int, DirectoryWatch::Change, const std::string& name) {
    if (!name.ends_with(kSuffix)) return;
    read(name);
    changed = true;
  });
  const bool all = due || !complete || !watched_;
  if (all) read_all();
  if (changed || all) index();
}

Result<UniqueFd> LibvirtRecords::open_directory() const {
  return is_session_ ? open_without_links(host_.root(), directory_path_.c_str())
                     : open_inside(host_.root(), directory_path_.c_str());
}

// Opens the directory, or verifies that it still is the one that is open.
void LibvirtRecords::find_directory() {
  auto opened = open_directory();
  struct stat status {};
  if (!opened || ::fstat(opened->get(), &status) != 0) return forget_directory();
  const FileStamp found{.device = status.st_dev, .inode = status.st_ino, .size = 0, .changed = {}};
  if (directory_ && found == opened_) return;
  forget_directory();
  directory_ = *std::move(opened);
  opened_ = found;
  watched_ = watch_.add(directory_.get()).ok();
}

void LibvirtRecords::forget_directory() {
  if (!directory_) return;
  watch_ = DirectoryWatch(DirectoryWatch::Entries::kFiles);
  directory_.reset();
  files_.clear();
  by_uuid_.clear();
  by_pid_.clear();
}

void LibvirtRecords::read_all() {
  const auto names = list_directory(directory_.get(), ".", limits(is_session_).files);
  if (!names) return;
  for (auto& [name, file] : files_) file.listed = false;
  for (const std::string& name : *names) {
    if (!name.ends_with(kSuffix)) continue;
    read(name);
    if (const auto file = files_.find(name); file != files_.end()) file->second.listed = true;
  }
  std::erase_if(files_, [](const auto& entry) { return !entry.second.listed; });
}

void LibvirtRecords::read(const std::string& name) {
  auto file = files_.find(name);
  if (file == files_.end()) {
    if (files_.size() >= limits(is_session_).files) return;
    file = files_.emplace(name, File()).first;
  }
  auto text = read_if_changed(directory_.get(), name.c_str(), limits(is_session_).bytes, file->second.stamp);
  if (!text || !(is_session_ || is_roots(directory_.get(), name))) {
    files_.erase(file);
    return;
  }
  if (!*text) return;
  file->second.written = modified_at(directory_.get(), name.c_str());
  auto status = parse_libvirt_status(**text);
  ::explicit_bzero((*text)->data(), (*text)->size());  // it holds passwords
  if (status && is_session_) {
    status->of_session = true;
    status->metadata.erase("keplerd.meter");
  }
  auto& known = file->second.status;
  if (!status) {
    known = nullptr;
  } else if (!known || *known != *status) {
    known = std::make_shared<const LibvirtStatus>(*std::move(status));
  }
}

void LibvirtRecords::index() {
  by_uuid_.clear();
  by_pid_.clear();
  for (const auto& [name, file] : files_) {
    if (!file.status) continue;
    by_uuid_[file.status->uuid] = file.status;
    by_pid_[file.status->pid] = {file.status, file.written};
  }
}

std::shared_ptr<const LibvirtStatus> LibvirtRecords::find(std::int32_t pid, Realtime since) const {
  const auto found = by_pid_.find(pid);
  return found != by_pid_.end() && is_since(found->second.written, since) ? found->second.status : nullptr;
}

// The owner of the host's root directory counts as root, too: in a test that may be any user.
bool LibvirtRecords::is_roots(int directory, const std::string& name) const {
  const auto owner = read_owner(directory, name.c_str());
  const auto root = read_owner(host_.root(), ".");
  return owner && (*owner == kRootUser || (root && *owner == *root));
}

bool LibvirtRecords::names_helper(std::int32_t pid, Realtime since) const {
  constexpr std::size_t kMostFiles = 10'000;
  for (const char* const below : {"", "/swtpm", "/passt", "/slirp", "/dbus"}) {
    const auto directory = open_inside(host_.root(), (directory_path_ + below).c_str());
    if (!directory) continue;
    const auto names = list_directory(directory->get(), ".", kMostFiles);
    if (!names) continue;
    for (const std::string& name : *names) {
      if (!name.ends_with(".pid")) continue;
      FileStamp stamp;
      const auto text = read_if_changed(directory->get(), name.c_str(), 64, stamp);
      if (!text || !*text || parse_number<std::int32_t>(trim(**text)) != pid) continue;
      if (is_roots(directory->get(), name) && is_since(modified_at(directory->get(), name.c_str()), since))
        return true;
    }
  }
  return false;
}

}  // namespace keplerd
