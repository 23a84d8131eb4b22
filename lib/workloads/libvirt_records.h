// SPDX-License-Identifier: Apache-2.0
// libvirt's statuses of its running QEMU machines, in /run/libvirt/qemu: there at once and without libvirt,
// kept when libvirtd stops, rewritten whenever a machine changes. They are root's alone.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "base/units.h"
#include "host/directory_watch.h"
#include "host/regular_file.h"
#include "workloads/libvirt_status.h"
#include "workloads/name_sources.h"

namespace keplerd {

class HostRoot;

class LibvirtRecords {
 public:
  // `host` must outlive the records.
  explicit LibvirtRecords(const HostRoot& host) : host_(host) {}

  // Reads what has changed, as inotify tells; all of it where that is not sure, and every ten seconds only
  // what has another stamp. `now`: of the monotonic clock.
  void refresh(Nanoseconds now);

  // Of the machine with this UUID as long as it is run by `pid`: what a machine leaves that ended while
  // libvirtd was stopped is nobody's. Null where there is none. The same object while nothing changes.
  std::shared_ptr<const LibvirtStatus> find(std::string_view uuid, std::int32_t pid) const;

 private:
  struct File {
    FileStamp stamp;
    std::shared_ptr<const LibvirtStatus> status;  // null: cannot be read, or is none
    bool listed = false;
  };

  void find_directory();
  void forget_directory();
  void read_all();
  void read(const std::string& name);
  void index();

  const HostRoot& host_;
  DirectoryWatch watch_{DirectoryWatch::Entries::kFiles};
  LastLook look_;  // at all
  UniqueFd directory_;
  bool watched_ = false;
  FileStamp opened_;  // of the directory: another one is there once it was made anew
  std::map<std::string, File, std::less<>> files_;  // by name
  std::map<std::string, std::shared_ptr<const LibvirtStatus>, std::less<>> by_uuid_;
};

}  // namespace keplerd
