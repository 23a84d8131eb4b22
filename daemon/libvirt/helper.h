// SPDX-License-Identifier: Apache-2.0
// Runs keplerd-libvirt while there is something to hear from it. libvirt's library blocks when its daemon
// hangs, and weighs more than all of keplerd: so it is in a process of its own, which is killed when it says
// nothing. It never makes a libvirt daemon start that has been stopped.
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

// Which of libvirt's drivers ("qemu", "xen") have a daemon that runs, by its pid file.
std::vector<std::string> running_drivers(const HostRoot& host, const std::vector<std::string>& wanted);

class LibvirtHelper {
 public:
  // `find`: where keplerd-libvirt is, empty where it is not, as long as it has not been found. `heard` is
  // called from the loop.
  LibvirtHelper(sd_event* loop, std::function<std::string()> find,
                std::function<void(const LibvirtUpdate&)> heard);
  ~LibvirtHelper();
  LibvirtHelper(const LibvirtHelper&) = delete;
  LibvirtHelper& operator=(const LibvirtHelper&) = delete;

  // Starts or kills it. `drivers`: those to connect to, none where there is nothing to hear. To be called
  // each second or so.
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
  std::string buffer_;  // the beginning of a line
};

// Where keplerd-libvirt is: beside this program (in a build directory), else where it is installed; empty
// where it is not.
std::string find_libvirt_helper();

}  // namespace keplerd
