// SPDX-License-Identifier: Apache-2.0
#include "daemon/access/public_view.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace keplerd {
namespace {

// Rounded down, so that what is told never goes backwards.
Microjoules floored(Microjoules energy) { return {energy.value - energy.value % kPublicStep.value}; }

// Active and idle are floored apart, so that each is monotonic and their sum is exact.
template <class Row>
Microjoules told_energy(const Row& row) {
  return floored(row.active) + floored(row.idle);
}

const std::string& key(const UnitRow& row) { return row.info->id; }
const std::string& key(const MachineRow& row) { return row.info->id; }
const std::string& key(const ContainerRow& row) { return row.info->id; }
ProcessId key(const ProcessRow& row) { return row.info->id; }

void floor_others(UnitRow& row) {
  row.own = floored(row.own);
  row.other = floored(row.other);
}
void floor_others(MachineRow& row) { row.parts.clear(); }
void floor_others(ContainerRow& row) {
  row.own = floored(row.own);
  row.other = floored(row.other);
  row.in_parent = floored(row.in_parent);
}
void floor_others(ProcessRow& row) { row.in_unit = floored(row.in_unit); }

// What is the user's, by the rules of systemd's logind and of the kernel.
class Ownership {
 public:
  explicit Ownership(uid_t user)
      : user_(user), slice_("/user.slice/user-" + std::to_string(user) + ".slice") {}

  bool owns(const UnitRow& row) const { return is_in_slice(row.info->id); }
  bool owns(const ContainerRow& row) const { return is_in_slice(row.info->unit); }
  bool owns(const ProcessRow& row) const { return row.info->user == user_; }
  bool owns(const MachineRow& row) const {
    return (row.info->unit && is_in_slice(*row.info->unit)) || row.user == user_;
  }

 private:
  bool is_in_slice(std::string_view unit) const {
    if (!unit.starts_with(slice_)) return false;
    return unit.size() == slice_.size() || unit[slice_.size()] == '/';
  }

  uid_t user_;
  std::string slice_;
};

// Ids of the machines in `report` that are the user's.
std::set<std::string_view> machines_of(const Report& report, uid_t user) {
  const Ownership ownership(user);
  std::set<std::string_view> ids;
  for (const MachineRow& row : report.machines) {
    if (ownership.owns(row)) ids.insert(row.info->id);
  }
  return ids;
}

class ViewMaker {
 public:
  ViewMaker(const PublicTick& tick, Report& view) : now_(*tick.now), before_(tick.before.get()), view_(view) {
    if (before_ == nullptr) return;
    view_.window = now_.monotonic - before_->monotonic;
    if (is_power_known()) span_ = view_.window;
  }

  void tell_host() {
    view_.full = false;
    view_.sequence = now_.sequence;
    view_.realtime = now_.realtime;
    view_.monotonic = now_.monotonic;
    view_.instance_id = now_.instance_id;
    view_.since = now_.since;
    view_.discarded_windows = now_.discarded_windows;
    view_.groups_left_out = now_.groups_left_out;
    view_.processes_left_out = now_.processes_left_out;
    view_.own_cost = {.cpu = now_.own_cost.cpu, .memory = now_.own_cost.memory};
    if (before_ != nullptr) view_.own_cost.window_cpu = now_.own_cost.cpu - before_->own_cost.cpu;
    view_.source = now_.source;
    view_.workload_quality = now_.workload_quality;
    view_.host = told(now_.host, before_ == nullptr ? nullptr : &before_->host);
  }

  void tell_zones() {
    for (std::size_t i = 0; i < now_.zones.size(); ++i) {
      const bool known = before_ != nullptr && i < before_->zones.size();
      view_.zones.push_back(told(now_.zones[i], known ? &before_->zones[i] : nullptr));
    }
  }

  // The rows that `sees` says yes to. Both reports have them in the same order.
  template <class Row, class Sees>
  void tell_rows(std::vector<Row> Report::*rows, Sees sees) {
    static const std::vector<Row> kNone;
    const std::vector<Row>& before = before_ == nullptr ? kNone : before_->*rows;
    auto last = before.begin();
    for (const Row& row : now_.*rows) {
      if (!sees(row)) continue;
      while (last != before.end() && key(*last) < key(row)) ++last;
      const bool known = last != before.end() && key(*last) == key(row);
      Row& told = (view_.*rows).emplace_back(row);
      told.active = floored(row.active);
      told.idle = floored(row.idle);
      told.power = power(told_energy(row), known ? told_energy(*last) : Microjoules{});
      told.zones = {};
      floor_others(told);
    }
  }

  // Of the machines that are told now, or were at the tick before: an end is told too.
  void tell_events(std::set<std::string_view> ids) {
    for (const MachineRow& row : view_.machines) ids.insert(row.info->id);
    if (ids.empty()) return;
    std::vector<MachineEvent> events;
    std::ranges::copy_if(*now_.machine_events, std::back_inserter(events),
                         [&](const MachineEvent& event) { return ids.contains(event.id); });
    view_.machine_events = std::make_shared<const std::vector<MachineEvent>>(std::move(events));
  }

  void tell_all_events() { view_.machine_events = now_.machine_events; }

 private:
  // Where each zone of the total was counted over the whole of the span.
  bool is_power_known() const {
    bool any = false;
    for (std::size_t i = 0; i < now_.zones.size(); ++i) {
      const ZoneReport& zone = now_.zones[i];
      if (!zone.current || !zone.zone.in_total) continue;
      any = true;
      if (zone.problem || i >= before_->zones.size() || !before_->zones[i].current) return false;
    }
    return any;
  }

  std::optional<Microwatts> power(Microjoules now, Microjoules before) const {
    if (span_ < kShortestPowerSpan || now < before) return std::nullopt;
    return mean_power(now - before, span_);
  }

  // The host, or a zone: what has an active and an idle power.
  template <class Row>
  Row told(const Row& row, const Row* before) const {
    const Row none{};
    const Row& last = before == nullptr ? none : *before;
    Row told = row;
    told.active = floored(row.active);
    told.idle = floored(row.idle);
    told.energy = told_energy(row);
    told.power = power(told_energy(row), told_energy(last));
    told.idle_power = power(told.idle, floored(last.idle));
    told.active_power.reset();
    if (told.power && told.idle_power) told.active_power = *told.power - *told.idle_power;
    return told;
  }

  const Report& now_;
  const Report* before_;
  Nanoseconds span_{0};  // that power is of; 0: no power is known
  Report& view_;
};

// Calls `f` with who sees which rows; not at all where the rule is the host alone.
template <class F>
void with_rule(PublicAccess rule, uid_t user, F f) {
  const Ownership ownership(user);
  if (rule == PublicAccess::kOwn) f([&ownership](const auto& row) { return ownership.owns(row); });
  if (rule == PublicAccess::kAll) f([](const auto&) { return true; });
}

}  // namespace

std::shared_ptr<Report> make_public_view(const PublicTick& tick, PublicAccess rule, uid_t user) {
  auto view = std::make_shared<Report>();
  ViewMaker maker(tick, *view);
  maker.tell_host();
  if (rule == PublicAccess::kAll) maker.tell_zones();
  with_rule(rule, user, [&maker](auto sees) {
    maker.tell_rows(&Report::units, sees);
    maker.tell_rows(&Report::machines, sees);
    maker.tell_rows(&Report::containers, sees);
    maker.tell_rows(&Report::pods, sees);
  });
  if (rule == PublicAccess::kAll) maker.tell_all_events();
  if (rule == PublicAccess::kOwn && tick.now->machine_events && !tick.now->machine_events->empty())
    maker.tell_events(tick.before ? machines_of(*tick.before, user) : std::set<std::string_view>());
  return view;
}

void add_public_processes(const PublicTick& tick, PublicAccess rule, uid_t user, Report& view) {
  if (!tick.now->has_processes || std::exchange(view.has_processes, true)) return;
  const PublicTick powerless{.now = tick.now, .before = nullptr};
  const bool known = tick.before && tick.before->has_processes;
  ViewMaker maker(known ? tick : powerless, view);
  with_rule(rule, user, [&maker](auto sees) { maker.tell_rows(&Report::processes, sees); });
}

}  // namespace keplerd
