// SPDX-License-Identifier: Apache-2.0
// libvirt's statuses of what it runs, in a directory for each of its drivers (/run/libvirt/qemu): there at
// once and without libvirt, kept when libvirtd stops, rewritten whenever a domain changes. They are root's
// alone, and one of another user's is none; those of a user's own libvirt are that user's, who may have
// written anything there.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
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
  using Realtime = std::chrono::microseconds;  // since 1970

  // Below the host's root directory, each.
  static constexpr char kQemu[] = "run/libvirt/qemu";
  static constexpr char kLxc[] = "run/libvirt/lxc";

  // `host` must outlive the records.
  LibvirtRecords(const HostRoot& host, std::string directory)
      : host_(host), directory_path_(std::move(directory)) {}

  // Of the libvirt that `user` runs for himself. Few and small ones only, and none through a link; they
  // cannot ask for a meter (see guest_meter.h).
  static LibvirtRecords of_session(const HostRoot& host, std::uint32_t user);

  // Reads what has changed, as inotify tells; all of it where that is not sure, and every ten seconds only
  // what has another stamp. `now`: of the monotonic clock.
  void refresh(Nanoseconds now);

  // Of the VM that `pid` runs; null where there is none, or where it was written before `since`, when that
  // process began: a VM that ended while libvirtd was stopped leaves its status behind. The same object while
  // nothing changes.
  std::shared_ptr<const LibvirtStatus> find(std::int32_t pid, Realtime since) const;

  // Whether libvirt's own pid files (swtpm's, virtiofsd's, passt's...) name `pid`, written as above. Reads
  // directories: for a few processes.
  bool names_helper(std::int32_t pid, Realtime since) const;

  using Statuses = std::map<std::string, std::shared_ptr<const LibvirtStatus>, std::less<>>;
  const Statuses& by_uuid() const { return by_uuid_; }

 private:
  struct File {
    FileStamp stamp;
    std::shared_ptr<const LibvirtStatus> status;  // null: cannot be read, or is none
    Nanoseconds written{0};                       // last, since 1970
    bool listed = false;
  };

  Result<UniqueFd> open_directory() const;
  void find_directory();
  void forget_directory();
  void read_all();
  void read(const std::string& name);
  bool is_roots(int directory, const std::string& name) const;
  void index();

  const HostRoot& host_;
  std::string directory_path_;
  bool is_session_ = false;
  DirectoryWatch watch_{DirectoryWatch::Entries::kFiles};
  LastLook look_;  // at all
  UniqueFd directory_;
  bool watched_ = false;
  FileStamp opened_;  // of the directory: another one is there once it was made anew
  std::map<std::string, File, std::less<>> files_;  // by name
  Statuses by_uuid_;
  struct OfProcess {
    std::shared_ptr<const LibvirtStatus> status;
    Nanoseconds written{0};
  };
  std::map<std::int32_t, OfProcess> by_pid_;
};

}  // namespace keplerd
