// SPDX-License-Identifier: Apache-2.0
// Who may see what ([Access] in keplerd.conf(5), docs/decisions/0013-access.md): the one place that decides
// it, for every publisher. Root, keplerd's own user and its group see every report as it is. Everybody else
// sees public views: of ticks that are at least a second apart and the same for all, energy in steps of 0.1
// J, and of workloads what Public= allows.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "base/units.h"
#include "config/settings.h"
#include "daemon/access/caller.h"
#include "daemon/access/public_view.h"
#include "report/report.h"

namespace keplerd {

class Access {
 public:
  // `own`: keplerd's user. `group`: whose members have full access; unset where there is no such group.
  Access(uid_t own, std::optional<gid_t> group) : own_(own), group_(group) {}

  void set_rule(PublicAccess rule);

  // `groups`: all of the caller's, the primary one too.
  Caller identify(uid_t user, std::span<const gid_t> groups) const;

  // After each sample.
  void add(std::shared_ptr<const Report> report);

  // Whether `report`, which is about to be added, must have its processes now: callers without full access
  // may ask for them when there is a later sample already, or have asked just now.
  bool wants_processes(const Report& report) const;

  // Whether the last report that was added must have its processes for this caller to see any.
  bool needs_processes(const Caller& caller) const;

  // The same object until there is something new for this caller; null where the caller may see nothing at
  // all. Where processes are asked for, it has them if the report that it is made of has.
  //
  // A caller without full access that holds eight views of different ticks, or whose login does where all see
  // the same, gets the last of these until it lets one go: what it holds is memory of keplerd's.
  std::shared_ptr<const Report> report_for(const Caller& caller, Rows rows);

 private:
  struct Held {
    std::vector<std::weak_ptr<const Report>> views;  // of this tick and earlier ones, in their order
    std::shared_ptr<const Report> last;              // of this tick, so that it stays the same object
  };

  void forget_released();
  std::shared_ptr<Report> view_of(uid_t user);
  std::shared_ptr<const Report> hold(Held& held, const std::shared_ptr<const Report>& view);
  bool is_public_tick(const Report& report) const;
  bool shows_workloads() const { return rule_ == PublicAccess::kOwn || rule_ == PublicAccess::kAll; }
  void compute_energies();

  uid_t own_;
  std::optional<gid_t> group_;
  PublicAccess rule_ = PublicAccess::kOwn;
  std::shared_ptr<const Report> latest_;
  PublicTick tick_;
  Nanoseconds due_{0};                              // the next public tick, on CLOCK_MONOTONIC
  std::optional<Nanoseconds> processes_asked_;      // the last public tick of which processes were asked for
  std::map<uid_t, std::shared_ptr<Report>> views_;  // of tick_; where all see the same, only that of -1
  std::map<std::pair<uid_t, std::uint64_t>, Held> held_;  // by whose view it is and Caller::payer()
};

}  // namespace keplerd
