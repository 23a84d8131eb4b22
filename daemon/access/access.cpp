// SPDX-License-Identifier: Apache-2.0
#include "daemon/access/access.h"

#include <algorithm>
#include <utility>

namespace keplerd {
namespace {

constexpr Nanoseconds kPublicPeriod = std::chrono::seconds(1);
// Samples are never exactly on time: one slightly early for the public tick still counts as it. The next tick
// is due one period after the due time of this one, so that there is never more than one per period.
constexpr Nanoseconds kMostEarly = std::chrono::milliseconds(50);
// Power needs the previous tick: processes are kept this long for callers that come back.
constexpr Nanoseconds kProcessesRemembered = std::chrono::minutes(1);
constexpr std::size_t kMostHeld = 8;
constexpr std::size_t kMostHolders = 1024;  // remembered within a tick
constexpr std::size_t kMostViews = 64;      // of users who call within one tick, kept for repeated calls

// A holder of any of these is counted as holding the view.
ReportView parts_of(const std::shared_ptr<const ReportView>& view) {
  return {.report = {view, view->report.get()}, .processes = {view, view->processes.get()}};
}

}  // namespace

// Restarts public ticks with the last report: no processes were kept for the last tick if the rule showed
// none.
void Access::set_rule(PublicAccess rule) {
  if (std::exchange(rule_, rule) == rule) return;
  views_.clear();
  held_.clear();
  tick_ = {.now = {latest_, nullptr}};
  if (latest_) due_ = latest_->monotonic + kPublicPeriod;
}

Caller Access::identify(uid_t user, std::span<const gid_t> groups) const {
  const bool member = group_ && std::ranges::find(groups, *group_) != groups.end();
  return {.user = user, .full = user == 0 || user == own_ || member};
}

bool Access::is_public_tick(Nanoseconds at, Nanoseconds window) const {
  return !tick_.now || at >= due_ - std::min(kMostEarly, window / 20);
}

void Access::add(std::shared_ptr<const Report> report) {
  latest_ = std::move(report);
  if (!is_public_tick(latest_->monotonic, latest_->window)) return;
  due_ = std::max(due_, latest_->monotonic) + kPublicPeriod;
  tick_ = {.now = {latest_, nullptr},
           .before = std::move(tick_.now),
           .energies = nullptr,
           .energies_before = std::move(tick_.energies)};
  views_.clear();
  forget_released();
}

// They can be requested until the next public tick, which needs them for its power.
void Access::keep_processes(Nanoseconds now) {
  if (!shows_workloads() || tick_.now.report != latest_ || !latest_ || tick_.now.processes) return;
  if (!is_public_tick(now, now - latest_->monotonic) || are_processes_remembered())
    tick_.now.processes = make_processes_();
}

bool Access::are_processes_remembered() const {
  return processes_asked_ && latest_->monotonic - *processes_asked_ < kProcessesRemembered;
}

void Access::forget_released() {
  for (auto& [key, held] : held_) {
    held.last.reset();
    std::erase_if(held.views, [](const auto& view) { return view.expired(); });
  }
  std::erase_if(held_, [](const auto& entry) { return entry.second.views.empty(); });
}

ReportView Access::view_for(const Caller& caller, std::optional<RowKind> kind) {
  const bool with_processes = kind == RowKind::kProcesses;
  if (caller.full) return {latest_, with_processes ? make_processes_() : nullptr};
  if (rule_ == PublicAccess::kNone || !tick_.now) return {};
  const uid_t user = rule_ == PublicAccess::kOwn ? caller.user : Caller{}.user;
  if (held_.size() >= kMostHolders) forget_released();
  Held& held = held_[{user, caller.payer()}];
  if (held.last && (held.last->processes || !with_processes)) return parts_of(held.last);
  const ReportView& view = view_of(user, with_processes);
  return caller.counted ? hold(held, view) : view;
}

const ReportView& Access::view_of(uid_t user, bool with_processes) {
  if (!views_.contains(user) && views_.size() >= kMostViews)  // except for the view shared by all
    std::erase_if(views_, [](const auto& entry) { return entry.first != Caller{}.user; });
  if (rule_ != PublicAccess::kHost) compute_energies();
  ReportView& view = views_[user];
  if (!view) view.report = public_report(tick_, rule_, user);
  if (!with_processes || !shows_workloads()) return view;
  processes_asked_ = tick_.now.report->monotonic;
  if (!tick_.now.processes && tick_.now.report == latest_) tick_.now.processes = make_processes_();
  if (!view.processes) view.processes = public_processes(tick_, rule_, user, *view.report);
  return view;
}

ReportView Access::hold(Held& held, const ReportView& view) {
  std::erase_if(held.views, [](const auto& other) { return other.expired(); });
  std::vector<std::shared_ptr<const Report>> ticks;  // except for this one
  for (const auto& entry : held.views) {
    const auto known = entry.lock();
    if (known->report != view.report) {
      if (ticks.empty() || ticks.back() != known->report) ticks.push_back(known->report);
    } else if (known->processes == view.processes) {
      return parts_of(known);
    }
  }
  if (ticks.size() >= kMostHeld) return parts_of(held.views.back().lock());
  held.last = std::make_shared<const ReportView>(view);
  held.views.push_back(held.last);
  return parts_of(held.last);
}

// Once per tick, for all views of it.
void Access::compute_energies() {
  const auto compute = [](const ReportView& view, auto& energies) {
    if (view && !energies) energies = std::make_shared<const PublicEnergies>(public_energies(*view.report));
  };
  compute(tick_.now, tick_.energies);
  compute(tick_.before, tick_.energies_before);
}

}  // namespace keplerd
