// SPDX-License-Identifier: Apache-2.0
#include "workloads/libvirt_records.h"

#include <cstring>
#include <utility>

#include <sys/stat.h>

#include "host/host_root.h"

namespace keplerd {
namespace {

constexpr std::string_view kSuffix = ".xml";

struct Limits {
  std::size_t bytes;
  std::size_t files;
};
constexpr Limits kOfSystem = {4 << 20, 10'000};  // a machine with hundreds of disks has some 200 KiB
constexpr Limits kOfSession = {128 << 10, 32};

const Limits& limits(bool session) { return session ? kOfSession : kOfSystem; }

}  // namespace

LibvirtRecords LibvirtRecords::of_session(const HostRoot& host, std::uint32_t user) {
  LibvirtRecords records(host, "run/user/" + std::to_string(user) + "/libvirt/qemu/run");
  records.is_session_ = true;
  return records;
}

void LibvirtRecords::refresh(Nanoseconds now) {
  const bool due = look_.is_due(now, static_cast<bool>(directory_));
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

// Opens the directory, or makes sure that it is still the one that is open.
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
}

void LibvirtRecords::read_all() {
  FileStamp none;
  const auto names = list_if_changed(directory_.get(), ".", limits(is_session_).files, none);
  if (!names || !*names) return;
  for (auto& [name, file] : files_) file.listed = false;
  for (const std::string& name : **names) {
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
  if (!text) {
    files_.erase(file);
    return;
  }
  if (!*text) return;
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
  for (const auto& [name, file] : files_) {
    if (file.status) by_uuid_[file.status->uuid] = file.status;
  }
}

std::shared_ptr<const LibvirtStatus> LibvirtRecords::find(std::string_view uuid, std::int32_t pid) const {
  const auto found = by_uuid_.find(uuid);
  return found != by_uuid_.end() && found->second->pid == pid ? found->second : nullptr;
}

}  // namespace keplerd
