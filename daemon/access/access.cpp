// SPDX-License-Identifier: Apache-2.0
#include "daemon/access/access.h"

#include <algorithm>
#include <utility>

namespace keplerd {
namespace {

constexpr Nanoseconds kPublicPeriod = std::chrono::seconds(1);
// A sample is never exactly on time: one that is a little early for the public tick still is it. The next one
// is due a period after this one was due, so that there is never more than one a period.
constexpr Nanoseconds kMostEarly = std::chrono::milliseconds(50);
// Power needs the tick before: so long they are kept for who asks again.
constexpr Nanoseconds kProcessesRemembered = std::chrono::minutes(1);
constexpr std::size_t kMostHeld = 8;
constexpr std::size_t kMostHolders = 1024;  // that are remembered within a tick
constexpr std::size_t kMostViews = 64;      // of users who ask within one tick, kept to answer again

}  // namespace

void Access::set_rule(PublicAccess rule) {
  if (std::exchange(rule_, rule) == rule) return;
  views_.clear();
  held_.clear();
}

Caller Access::identify(uid_t user, std::span<const gid_t> groups) const {
  const bool member = group_ && std::ranges::find(groups, *group_) != groups.end();
  return {.user = user, .full = user == 0 || user == own_ || member};
}

bool Access::is_public_tick(const Report& report) const {
  const Nanoseconds early = std::min(kMostEarly, report.window / 20);
  return !tick_.now || report.monotonic >= due_ - early;
}

void Access::add(std::shared_ptr<const Report> report) {
  latest_ = std::move(report);
  if (!is_public_tick(*latest_)) return;
  due_ = std::max(due_, latest_->monotonic) + kPublicPeriod;
  tick_ = {.now = latest_,
           .before = std::move(tick_.now),
           .energies = nullptr,
           .energies_before = std::move(tick_.energies)};
  views_.clear();
  forget_released();
}

void Access::forget_released() {
  for (auto& [key, held] : held_) {
    held.last.reset();
    std::erase_if(held.views, [](const auto& view) { return view.expired(); });
  }
  std::erase_if(held_, [](const auto& entry) { return entry.second.views.empty(); });
}

bool Access::wants_processes(const Report& report) const {
  if (!shows_workloads() || !is_public_tick(report)) return false;
  const bool may_be_overtaken = report.window < kPublicPeriod - kMostEarly;
  return may_be_overtaken ||
         (processes_asked_ && report.monotonic - *processes_asked_ < kProcessesRemembered);
}

// Of an older report they cannot be made any more.
bool Access::needs_processes(const Caller& caller) const {
  return caller.full || (shows_workloads() && tick_.now == latest_);
}

std::shared_ptr<const Report> Access::report_for(const Caller& caller, Rows rows) {
  if (caller.full) return latest_;
  if (rule_ == PublicAccess::kNone || !tick_.now) return nullptr;
  const uid_t user = rule_ == PublicAccess::kOwn ? caller.user : Caller{}.user;
  const bool with_processes = rows == Rows::kAll && tick_.now->has_processes;
  if (rows == Rows::kAll) processes_asked_ = tick_.now->monotonic;
  if (held_.size() >= kMostHolders) forget_released();
  Held& held = held_[{user, caller.payer()}];
  if (held.last && (held.last->has_processes || !with_processes)) return held.last;
  const auto view = view_of(user);
  if (with_processes) add_public_processes(tick_, rule_, user, *view);
  return caller.counted ? hold(held, view) : view;
}

std::shared_ptr<Report> Access::view_of(uid_t user) {
  if (!views_.contains(user) && views_.size() >= kMostViews)  // but for the view that all share
    std::erase_if(views_, [](const auto& entry) { return entry.first != Caller{}.user; });
  if (rule_ != PublicAccess::kHost) compute_energies();
  auto& view = views_[user];
  if (!view) view = make_public_view(tick_, rule_, user);
  return view;
}

// Who holds what it returns is counted for holding the view, however often.
std::shared_ptr<const Report> Access::hold(Held& held, const std::shared_ptr<const Report>& view) {
  std::erase_if(held.views, [](const auto& other) { return other.expired(); });
  for (const auto& other : held.views) {
    if (auto known = other.lock(); known == view) return known;
  }
  if (held.views.size() >= kMostHeld) return held.views.back().lock();
  const auto holder = std::make_shared<const std::shared_ptr<const Report>>(view);
  held.last = std::shared_ptr<const Report>(holder, view.get());
  held.views.push_back(held.last);
  return held.last;
}

// Once a tick, for all views of it.
void Access::compute_energies() {
  const auto compute = [](const auto& report, auto& energies) {
    if (report && !energies) energies = std::make_shared<const PublicEnergies>(public_energies(*report));
  };
  compute(tick_.now, tick_.energies);
  compute(tick_.before, tick_.energies_before);
}

}  // namespace keplerd
