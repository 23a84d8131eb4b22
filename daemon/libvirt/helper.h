// SPDX-License-Identifier: Apache-2.0
// Runs keplerd-libvirt while it has something to report. libvirt's library blocks when its daemon hangs, and
// needs more memory than all of keplerd: so it runs in a process of its own, which is killed when it falls
// silent. It never starts a libvirt daemon that has been stopped.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>
#include <systemd/sd-event.h>

#include "base/unique_fd.h"
#include "base/units.h"
#include "daemon/libvirt/helper_policy.h"
#include "daemon/libvirt/update.h"
#include "event/sources.h"

namespace keplerd {

class HostRoot;

// The libvirt drivers ("qemu", "xen") with a running daemon, according to its pid file.
std::vector<std::string> running_drivers(const HostRoot& host, const std::vector<std::string>& wanted);

class LibvirtHelper {
 public:
  // `find` returns the path of keplerd-libvirt, empty if missing; it is called until it is found. `heard` is
  // called from the loop.
  LibvirtHelper(sd_event* loop, std::function<std::string()> find,
                std::function<void(const LibvirtUpdate&)> heard);
  ~LibvirtHelper();
  LibvirtHelper(const LibvirtHelper&) = delete;
  LibvirtHelper& operator=(const LibvirtHelper&) = delete;

  // Starts or kills it. `drivers`: those to connect to, empty if there is nothing to follow. Call it about
  // once a second.
  void update(const std::vector<std::string>& drivers, Nanoseconds now);

  bool is_connected() const { return connected_; }

  // As of the last update with drivers.
  bool is_installed() const { return !program_.empty(); }

 private:
  void start(const std::vector<std::string>& drivers, Nanoseconds now);
  void kill();
  void read_lines();
  void reap();

  sd_event* loop_;
  std::function<std::string()> find_;
  std::string program_;
  std::function<void(const LibvirtUpdate&)> heard_;
  HelperPolicy policy_;
  std::vector<std::string> drivers_;  // that it was started for
  bool connected_ = false;
  pid_t child_ = 0;
  std::vector<pid_t> killed_;  // not reaped yet
  UniqueFd output_;
  Io io_;
  std::string buffer_;  // an incomplete line
};

// The path of keplerd-libvirt: next to this program (in a build directory), else where it is installed; empty
// if missing.
std::string find_libvirt_helper();

}  // namespace keplerd
