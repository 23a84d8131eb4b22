// SPDX-License-Identifier: Apache-2.0
// Finds the open graphics cards among the descriptors of all processes, in /proc/PID/fdinfo. To look for
// them, all files of a process have to be read: that is done when a process is new, a few times in its first
// half minute, and then every half minute, a part of the processes each second. Only descriptors that are
// known to be of a card are read each time.
//
// /proc/PID/fd would be cheaper to search, but reading it needs CAP_DAC_READ_SEARCH as well, which is the
// privilege to read all files of the host.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "meters/drm/client_times.h"
#include "usage/process_id.h"

namespace keplerd {
class HostRoot;
}

namespace keplerd::drm {

// A device that is passed through to the VM that a process runs.
struct PassedThrough {
  std::string device;  // PCI address
  ProcessId process;
  bool operator==(const PassedThrough&) const = default;
};

class ProcessFiles {
 public:
  // `host` must outlive it.
  explicit ProcessFiles(const HostRoot& host) : host_(host) {}

  // Scans; to be called once a second. Errors of single processes are ignored: they are gone, or may not be
  // examined.
  void scan();

  // Of the last scan.
  const std::vector<SeenClient>& clients() const { return clients_; }
  const std::vector<PassedThrough>& passed_through() const { return passed_through_; }
  // All processes.
  const std::set<ProcessId>& running() const { return running_; }
  // How many processes could not be examined for want of privileges.
  std::size_t denied() const { return denied_; }
  // How many files and directories the scan has opened and read.
  std::size_t cost() const { return cost_; }

 private:
  struct Process {
    ProcessId id;
    std::uint64_t next = 0;    // number of the scan in which its descriptors are searched
    std::uint64_t period = 1;  // after that one
    bool was_there = false;    // at the first scan
    bool is_searched = false;
    bool is_denied = false;
    std::vector<int> cards;                   // descriptors
    std::set<int> seen;                       // of these, those that were read before
    std::vector<std::string> passed_through;  // PCI addresses
  };

  void find_processes();
  bool read_start(Process& process);
  void search(Process& process);
  void read_clients(Process& process);
  Result<std::string_view> read_descriptor(const Process& process, std::string_view descriptor);

  const HostRoot& host_;
  std::uint64_t number_ = 0;
  std::map<std::int32_t, Process> processes_;
  std::vector<SeenClient> clients_;
  std::vector<PassedThrough> passed_through_;
  std::set<ProcessId> running_;
  std::size_t denied_ = 0, cost_ = 0, searched_ = 0;
  std::vector<std::int32_t> pids_;
  std::array<char, 16'384> buffer_;
};

}  // namespace keplerd::drm
