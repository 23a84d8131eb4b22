// SPDX-License-Identifier: Apache-2.0
// libvirt's status files of running domains, in a directory for each of its drivers (/run/libvirt/qemu):
// readable at once without contacting libvirt, kept when libvirtd stops, rewritten whenever a domain changes.
// Only root may write them, and a file of another owner is ignored; those of a user's session libvirt belong
// to that user, who may have written anything there.
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

  // Directories, each below the host's root directory.
  static constexpr char kQemu[] = "run/libvirt/qemu";
  static constexpr char kLxc[] = "run/libvirt/lxc";

  // `host` must outlive the records.
  LibvirtRecords(const HostRoot& host, std::string directory)
      : host_(host), directory_path_(std::move(directory)) {}

  // Records of the session libvirt of `user`. Only a few small ones are read, and none through a link; they
  // cannot request a meter (see guest_meter.h).
  static LibvirtRecords of_session(const HostRoot& host, std::uint32_t user);

  // Reads what has changed according to inotify; if that is unreliable, everything; and every ten seconds
  // whatever has another stamp. A directory that is not there is looked for as often, or once a second while
  // a new record is `expected`. `now`: of the monotonic clock.
  void refresh(Nanoseconds now, bool expected = true);

  // The status of the VM run by `pid`; null if there is none, or if it was written before `since`, when that
  // process began: a VM that ended while libvirtd was stopped leaves its status behind. The same object while
  // nothing changes.
  std::shared_ptr<const LibvirtStatus> find(std::int32_t pid, Realtime since) const;

  // Whether libvirt's own pid files (of swtpm, virtiofsd, passt...) name `pid`, written as above. Lists
  // directories: call it for a few processes only.
  bool names_helper(std::int32_t pid, Realtime since) const;

  using Statuses = std::map<std::string, std::shared_ptr<const LibvirtStatus>, std::less<>>;
  const Statuses& by_uuid() const { return by_uuid_; }

 private:
  struct File {
    FileStamp stamp;
    std::shared_ptr<const LibvirtStatus> status;  // null: unreadable or invalid
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
  LastCheck checked_;  // when it was last scanned
  UniqueFd directory_;
  bool watched_ = false;
  FileStamp opened_;                                // of the directory: differs after it was recreated
  std::map<std::string, File, std::less<>> files_;  // by name
  Statuses by_uuid_;
  struct OfProcess {
    std::shared_ptr<const LibvirtStatus> status;
    Nanoseconds written{0};
  };
  std::map<std::int32_t, OfProcess> by_pid_;
};

}  // namespace keplerd
