// SPDX-License-Identifier: Apache-2.0
// Decides who may see what ([Access] in keplerd.conf(5), docs/decisions/0013-access.md), in one place for all
// publishers. Root, keplerd's own user and its group see every report unfiltered. All others see public
// views: of ticks at least a second apart and the same for everyone, with energy in steps of 0.1 J and
// workloads as far as Public= allows.
#pragma once

#include <functional>
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
#include "report/row_kinds.h"

namespace keplerd {

class Access {
 public:
  // The processes of the last report added.
  using MakeProcesses = std::function<std::shared_ptr<const ProcessRows>()>;

  // `own`: keplerd's user. `group`: its members have full access; unset if there is no such group.
  Access(uid_t own, std::optional<gid_t> group, MakeProcesses make_processes)
      : own_(own), group_(group), make_processes_(std::move(make_processes)) {}

  void set_rule(PublicAccess rule);

  // `groups`: all of the caller's groups, including the primary one.
  Caller identify(uid_t user, std::span<const gid_t> groups) const;

  // Whether the caller may see any process, should there be one that is his.
  bool may_see_processes(const Caller& caller) const { return caller.full || shows_workloads(); }

  // Call it after each sample.
  void add(std::shared_ptr<const Report> report);

  // Call it before each sample, to be taken at `now` or later: creates the processes of the last one, if
  // callers without full access may request them after it.
  void keep_processes(Nanoseconds now);

  // Returns the same objects until there is a newer view for this caller; none if the caller may see nothing
  // at all. Includes the processes if these are the `kind`.
  //
  // A caller without full access that holds eight views of different ticks (or whose login does, if the
  // view is shared by all) gets the last of these until it releases one: held views occupy keplerd's
  // memory.
  ReportView view_for(const Caller& caller, std::optional<RowKind> kind = {});

 private:
  struct Held {
    std::vector<std::weak_ptr<const ReportView>> views;  // of this tick and earlier ones, in order
    std::shared_ptr<const ReportView> last;  // of this tick; kept so that callers get the same object
  };

  void forget_released();
  const ReportView& view_of(uid_t user, bool with_processes);
  static ReportView hold(Held& held, const ReportView& view);
  bool is_public_tick(Nanoseconds at, Nanoseconds window) const;
  bool are_processes_remembered() const;
  bool shows_workloads() const { return rule_ == PublicAccess::kOwn || rule_ == PublicAccess::kAll; }
  void compute_energies();

  uid_t own_;
  std::optional<gid_t> group_;
  MakeProcesses make_processes_;
  PublicAccess rule_ = PublicAccess::kOwn;
  std::shared_ptr<const Report> latest_;
  PublicTick tick_;
  Nanoseconds due_{0};                          // the next public tick, on CLOCK_MONOTONIC
  std::optional<Nanoseconds> processes_asked_;  // the last public tick whose processes were requested
  std::map<uid_t, ReportView> views_;           // of tick_; if all see the same, only that of -1
  std::map<std::pair<uid_t, std::uint64_t>, Held> held_;  // by the view's user and Caller::payer()
};

}  // namespace keplerd
