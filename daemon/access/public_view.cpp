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
  Ownership(const Report& report, uid_t user)
      : user_(user), slice_("/user.slice/user-" + std::to_string(user) + ".slice") {
    for (const ProcessRow& row : report.processes) {
      if (owns(row) && row.machine && row.machine->pid == row.info->id.pid) machines_.insert(row.machine->id);
    }
  }

  bool owns(const UnitRow& row) const { return is_in_slice(row.info->id); }
  bool owns(const ContainerRow& row) const { return is_in_slice(row.info->unit); }
  bool owns(const ProcessRow& row) const { return row.info->user == user_; }
  bool owns(const MachineRow& row) const {
    return (row.info->unit && is_in_slice(*row.info->unit)) || machines_.contains(row.info->id);
  }

 private:
  bool is_in_slice(std::string_view unit) const {
    if (!unit.starts_with(slice_)) return false;
    return unit.size() == slice_.size() || unit[slice_.size()] == '/';
  }

  uid_t user_;
  std::string slice_;
  std::set<std::string_view> machines_;  // ids of those whose process is the user's
};

// Ids of the machines in `report` that are the user's.
std::set<std::string_view> machines_of(const Report& report, uid_t user) {
  const Ownership ownership(report, user);
  std::set<std::string_view> ids;
  for (const MachineRow& row : report.machines) {
    if (ownership.owns(row)) ids.insert(row.info->id);
  }
  return ids;
}

class ViewMaker {
 public:
  explicit ViewMaker(const PublicTick& tick)
      : now_(*tick.now), before_(tick.before.get()), view_(std::make_shared<Report>()) {
    if (before_ == nullptr) return;
    view_->window = now_.monotonic - before_->monotonic;
    if (is_power_known()) span_ = view_->window;
  }

  void tell_host() {
    view_->full = false;
    view_->sequence = now_.sequence;
    view_->realtime = now_.realtime;
    view_->monotonic = now_.monotonic;
    view_->instance_id = now_.instance_id;
    view_->since = now_.since;
    view_->discarded_windows = now_.discarded_windows;
    view_->groups_left_out = now_.groups_left_out;
    view_->source = now_.source;
    view_->workload_quality = now_.workload_quality;
    view_->host = told(now_.host, before_ == nullptr ? nullptr : &before_->host);
  }

  void tell_zones() {
    for (std::size_t i = 0; i < now_.zones.size(); ++i) {
      const bool known = before_ != nullptr && i < before_->zones.size();
      view_->zones.push_back(told(now_.zones[i], known ? &before_->zones[i] : nullptr));
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
      Row& told = (view_.get()->*rows).emplace_back(row);
      told.active = floored(row.active);
      told.idle = floored(row.idle);
      told.power = power(told_energy(row), known ? told_energy(*last) : Microjoules{});
      told.zones = {};
      floor_others(told);
    }
  }

  // Of the machines that are told now, or were at the tick before: an end is told too.
  void tell_events(std::set<std::string_view> ids) {
    for (const MachineRow& row : view_->machines) ids.insert(row.info->id);
    if (ids.empty()) return;
    std::vector<MachineEvent> events;
    std::ranges::copy_if(*now_.machine_events, std::back_inserter(events),
                         [&](const MachineEvent& event) { return ids.contains(event.id); });
    view_->machine_events = std::make_shared<const std::vector<MachineEvent>>(std::move(events));
  }

  void tell_all_events() { view_->machine_events = now_.machine_events; }

  std::shared_ptr<const Report> view() { return std::move(view_); }

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
    if (!span_ || *span_ < kShortestPowerSpan || now < before) return std::nullopt;
    return mean_power(now - before, *span_);
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
  std::optional<Nanoseconds> span_;  // that power is of; unset: no power is known
  std::shared_ptr<Report> view_;
};

}  // namespace

std::shared_ptr<const Report> make_public_view(const PublicTick& tick, PublicAccess rule, uid_t user) {
  ViewMaker maker(tick);
  maker.tell_host();
  const auto tell_rows = [&maker](auto sees) {
    maker.tell_rows(&Report::units, sees);
    maker.tell_rows(&Report::machines, sees);
    maker.tell_rows(&Report::containers, sees);
    maker.tell_rows(&Report::pods, sees);
    maker.tell_rows(&Report::processes, sees);
  };
  if (rule == PublicAccess::kOwn) {
    const Ownership ownership(*tick.now, user);
    tell_rows([&ownership](const auto& row) { return ownership.owns(row); });
    if (tick.now->machine_events && !tick.now->machine_events->empty())
      maker.tell_events(tick.before ? machines_of(*tick.before, user) : std::set<std::string_view>());
  }
  if (rule == PublicAccess::kAll) {
    maker.tell_zones();
    tell_rows([](const auto&) { return true; });
    maker.tell_all_events();
  }
  return maker.view();
}

}  // namespace keplerd
