// SPDX-License-Identifier: Apache-2.0
// Who may see what ([Access] in keplerd.conf(5), docs/decisions/0013-access.md): the one place that decides
// it, for every publisher. Root, keplerd's own user and its group see every report as it is. Everybody else
// sees public views: of ticks that are at least a second apart and the same for all, energy in steps of 0.1
// J, and of workloads what Public= allows.
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
  // The processes of the report that was added last.
  using MakeProcesses = std::function<std::shared_ptr<const ProcessRows>()>;

  // `own`: keplerd's user. `group`: whose members have full access; unset where there is no such group.
  Access(uid_t own, std::optional<gid_t> group, MakeProcesses make_processes)
      : own_(own), group_(group), make_processes_(std::move(make_processes)) {}

  void set_rule(PublicAccess rule);

  // `groups`: all of the caller's, the primary one too.
  Caller identify(uid_t user, std::span<const gid_t> groups) const;

  // After each sample.
  void add(std::shared_ptr<const Report> report);

  // Before each sample, which is taken at `now` or later: has the last one's processes made, where callers
  // without full access may ask for them after it.
  void keep_processes(Nanoseconds now);

  // The same objects until there is something new for this caller; none where the caller may see nothing at
  // all. With the processes where these are the `kind`.
  //
  // A caller without full access that holds eight views of different ticks, or whose login does where all see
  // the same, gets the last of these until it lets one go: what it holds is memory of keplerd's.
  ReportView view_for(const Caller& caller, std::optional<RowKind> kind = {});

 private:
  struct Held {
    std::vector<std::weak_ptr<const ReportView>> views;  // of this tick and earlier ones, in their order
    std::shared_ptr<const ReportView> last;              // of this tick, so that it stays the same object
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
  std::optional<Nanoseconds> processes_asked_;  // the last public tick of which processes were asked for
  std::map<uid_t, ReportView> views_;           // of tick_; where all see the same, only that of -1
  std::map<std::pair<uid_t, std::uint64_t>, Held> held_;  // by whose view it is and Caller::payer()
};

}  // namespace keplerd
