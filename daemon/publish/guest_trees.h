// SPDX-License-Identifier: Apache-2.0
// Gives virtual machines access to their own energy: a directory for each one chosen by [Guests], laid out
// like /sys/class/powercap, to be shared with it. Counters are whole joules, and those of all VMs are written
// at the same instants, ten seconds apart, however often the host samples, so that nobody can infer from them
// what others compute (PLATYPUS). The contents of a VM's directory may be the VM's own doing; that does not
// affect other VMs. Directories outlive keplerd, because a mount or share keeps hold of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "config/settings.h"
#include "daemon/publish/guest_meter.h"

namespace keplerd {

// Whether `settings` choose this machine.
bool is_chosen(const VmInfo& vm, const GuestSettings& settings);

class GuestTrees {
 public:
  // `complain` receives a line from time to time, not one for each problem.
  GuestTrees(GuestSettings settings, std::function<void(const std::string&)> complain);

  // Call it with each new report.
  void update(const Report& report);

 private:
  // What was written for a VM.
  struct Tree {
    std::optional<GuestMeter> written;  // unset: not completely, or not in this run
    std::optional<Quality> quality;
    GuestMeter floor;  // what an earlier run published, possibly more than it had saved
  };

  bool is_off() const { return settings_.vms.empty() && !settings_.by_metadata; }
  bool is_due(Nanoseconds now);
  Result<UniqueFd> open_base() const;
  Result<Done> write(int base, const Report& report, const VmRow& vm);
  void make_listed(int base);
  void clean(int base);
  void clean_one(int base, const std::string& name, std::size_t& budget);
  void complain(const std::string& what);

  GuestSettings settings_;
  std::function<void(const std::string&)> complain_;
  std::map<std::string, Tree> trees_;  // of chosen, running VMs, by id
  std::set<std::string> leaving_;      // directories of VMs that have ended
  std::optional<Nanoseconds> due_;
  std::uint64_t instants_ = 0;
  Nanoseconds now_{0};
  std::optional<Nanoseconds> complained_;
};

}  // namespace keplerd
