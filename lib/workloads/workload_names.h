// SPDX-License-Identifier: Apache-2.0
// Names of containers, pods and Proxmox's guests, from the files that their runtimes keep below the host's
// root directory: no runtime's socket is used, because that requires root's power and could hang.
//
// Supported: docker, podman (root's), kubelet with any runtime, Proxmox, systemd-machined. Not found: names
// of rootless containers, whose storage is in home directories that the daemon cannot see; of podman's pods;
// of containerd's containers without kubelet.
//
// All names are escaped by escape_name and at most 255 bytes before that. A file that is missing, malformed
// or too large only costs its name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"
#include "host/host_root.h"
#include "workloads/name_sources.h"
#include "workloads/proxmox_names.h"

namespace keplerd {

class WorkloadNames {
 public:
  explicit WorkloadNames(const HostRoot& host);  // must outlive it

  // Performs reads that may hang there; those names are known one round later at the earliest
  // (proxmox_names.h). Without one they are read synchronously.
  void set_background(Background* background) { proxmox_.set_background(background); }

  // A round of requests: begin, ask, end. A file is checked again if its last check is at least kCheckPeriod
  // ago, or kRetryPeriod if that yielded no name; if it is unchanged (inode, size, time), it is not read.
  // `now`: of the monotonic clock.
  void begin(Nanoseconds now) { now_ = now; }

  // `runtime`, `id`, `uid`, `number`: as in CgroupWorkload, in whatever form.
  std::optional<std::string> container(std::string_view runtime, std::string_view id);
  std::optional<PodName> pod(std::string_view uid);
  std::optional<std::string> proxmox_guest(std::string_view number);

  // The machine that systemd-machined knows in this unit ("web.service", escaped).
  std::optional<std::string> machined(std::string_view unit);

  // Drops what was not requested in this round.
  void end();

 private:
  std::optional<std::string> found_by_id(std::string_view runtime, std::string_view id);

  Nanoseconds now_{};
  FileForEach docker_, machined_;
  ProxmoxNames proxmox_;
  PodmanStorage podman_;
  NamingDirectory<PodName> pods_;
  NamingDirectory<std::string> pod_containers_;
};

}  // namespace keplerd
