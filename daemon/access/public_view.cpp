// SPDX-License-Identifier: Apache-2.0
#include "daemon/access/public_view.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "report/fields.h"

namespace keplerd {
namespace {

// Of the host or a zone. Active and idle are floored apart, so that each is monotonic and their sum is exact.
template <class Row>
Microjoules public_energy(const Row& row) {
  return floored(row.active) + floored(row.idle);
}

const std::string& key(const UnitRow& row) { return row.info->id; }
const std::string& key(const VmRow& row) { return row.info->id; }
const std::string& key(const ContainerRow& row) { return row.info->id; }
ProcessId key(const ProcessRow& row) { return row.info->id; }

// What the fields' list says of members; the energies of rows that are inside each other are computed.
template <class Row>
void hide(Row& row) {
  for_each_field<Row>([&row](const auto& field) {
    if constexpr (requires { row.*field.get.pointer; }) {
      auto& member = row.*field.get.pointer;
      if constexpr (std::is_same_v<decltype(member), Microjoules&>) {
        if (field.shown == Public::kFloored) member = floored(member);
      }
      if (field.shown == Public::kHidden) member = {};
    }
  });
  row.zones = {};
}

void show_computed(UnitRow& row, const PublicEnergy& shown) {
  row.own = shown.own;
  row.other = std::min(floored(row.other), shown.own);
}
void show_computed(VmRow&, const PublicEnergy&) {}
void show_computed(ContainerRow& row, const PublicEnergy& shown) {
  row.own = shown.own;
  row.other = std::min(floored(row.other), shown.own);
  row.in_parent = shown.in_parent;
}
void show_computed(ProcessRow&, const PublicEnergy&) {}

// Of the rows of one kind of a report. Those of VMs and processes are in no other row of their kind.
class Shown {
 public:
  template <class Row>
  Shown(const PublicEnergies* energies, std::vector<Row> Report::*rows) {
    if constexpr (std::is_same_v<Row, UnitRow>) energies_ = &energies->units;
    if constexpr (std::is_same_v<Row, ContainerRow>)
      energies_ = rows == &Report::pods ? &energies->pods : &energies->containers;
  }

  PublicEnergy of(const WorkloadRow& row, std::ptrdiff_t index) const {
    if (energies_ != nullptr) return (*energies_)[static_cast<std::size_t>(index)];
    return {.active = floored(row.active), .idle = floored(row.idle), .own = {}, .in_parent = {}};
  }

 private:
  const std::vector<PublicEnergy>* energies_ = nullptr;
};

// Whether the row is this user's.
auto owned_by(uid_t user) {
  return [user](const WorkloadRow& row) { return row.owner == user; };
}

class ViewMaker {
 public:
  ViewMaker(const PublicTick& tick, Report& view)
      : tick_(tick), now_(*tick.now), before_(tick.before.get()), view_(view) {
    if (before_ == nullptr) return;
    view_.window = now_.monotonic - before_->monotonic;
    if (is_power_known()) span_ = view_.window;
  }

  void make_host() {
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
    view_.host = public_row(now_.host, before_ == nullptr ? nullptr : &before_->host);
  }

  void make_zones() {
    for (std::size_t i = 0; i < now_.zones.size(); ++i) {
      const bool known = before_ != nullptr && i < before_->zones.size();
      view_.zones.push_back(public_row(now_.zones[i], known ? &before_->zones[i] : nullptr));
    }
  }

  // The rows that `sees` says yes to. Both reports have them in the same order.
  template <class Row, class Sees>
  void make_rows(std::vector<Row> Report::*rows, Sees sees) {
    static const std::vector<Row> kNone;
    const std::vector<Row>& before = before_ == nullptr ? kNone : before_->*rows;
    const Shown shown_now(tick_.energies.get(), rows);
    const Shown shown_before(before_ == nullptr ? tick_.energies.get() : tick_.energies_before.get(), rows);
    auto last = before.begin();
    for (const Row& row : now_.*rows) {
      if (!sees(row)) continue;
      while (last != before.end() && key(*last) < key(row)) ++last;
      const bool known = last != before.end() && key(*last) == key(row);
      const PublicEnergy shown = shown_now.of(row, &row - (now_.*rows).data());
      const PublicEnergy was = known ? shown_before.of(*last, last - before.begin()) : PublicEnergy{};
      Row& shown_row = (view_.*rows).emplace_back(row);
      shown_row.active = shown.active;
      shown_row.idle = shown.idle;
      shown_row.power = power(shown.active + shown.idle, was.active + was.idle);
      hide(shown_row);
      show_computed(shown_row, shown);
    }
  }

  // Of the user's VMs.
  void make_events(uid_t user) {
    if (!now_.vm_events || now_.vm_events->empty()) return;
    std::vector<VmEvent> events;
    std::ranges::copy_if(*now_.vm_events, std::back_inserter(events),
                         [user](const VmEvent& event) { return event.owner == user; });
    if (!events.empty()) view_.vm_events = std::make_shared<const std::vector<VmEvent>>(std::move(events));
  }

  void copy_events() { view_.vm_events = now_.vm_events; }

 private:
  // Where each zone of the total was counted over the whole of the span.
  bool is_power_known() const {
    bool any = false;
    for (std::size_t i = 0; i < now_.zones.size(); ++i) {
      const ZoneRow& zone = now_.zones[i];
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
  Row public_row(const Row& row, const Row* before) const {
    const Row none{};
    const Row& last = before == nullptr ? none : *before;
    Row shown_row = row;
    shown_row.active = floored(row.active);
    shown_row.idle = floored(row.idle);
    shown_row.energy = public_energy(row);
    shown_row.power = power(public_energy(row), public_energy(last));
    shown_row.idle_power = power(shown_row.idle, floored(last.idle));
    shown_row.active_power.reset();
    if (shown_row.power && shown_row.idle_power)
      shown_row.active_power = *shown_row.power - *shown_row.idle_power;
    return shown_row;
  }

  const PublicTick& tick_;
  const Report& now_;
  const Report* before_;
  Nanoseconds span_{0};  // that power is of; 0: no power is known
  Report& view_;
};

// Calls `f` with who sees which rows; not at all where the rule is the host alone.
template <class F>
void with_rule(PublicAccess rule, uid_t user, F f) {
  if (rule == PublicAccess::kOwn) f(owned_by(user));
  if (rule == PublicAccess::kAll) f([](const auto&) { return true; });
}

}  // namespace

std::shared_ptr<Report> make_public_view(const PublicTick& tick, PublicAccess rule, uid_t user) {
  auto view = std::make_shared<Report>();
  ViewMaker maker(tick, *view);
  maker.make_host();
  if (rule == PublicAccess::kAll) maker.make_zones();
  with_rule(rule, user, [&maker](auto sees) {
    maker.make_rows(&Report::units, sees);
    maker.make_rows(&Report::vms, sees);
    maker.make_rows(&Report::containers, sees);
    maker.make_rows(&Report::pods, sees);
  });
  if (rule == PublicAccess::kAll) maker.copy_events();
  if (rule == PublicAccess::kOwn) maker.make_events(user);
  return view;
}

void add_public_processes(const PublicTick& tick, PublicAccess rule, uid_t user, Report& view) {
  if (!tick.now->has_processes || std::exchange(view.has_processes, true)) return;
  const PublicTick powerless{.now = tick.now, .before = nullptr};
  const bool known = tick.before && tick.before->has_processes;
  ViewMaker maker(known ? tick : powerless, view);
  with_rule(rule, user, [&maker](auto sees) { maker.make_rows(&Report::processes, sees); });
  if (rule != PublicAccess::kOwn) return;
  const auto hide = [](auto& info, const auto& rows) {
    const bool is_shown = info && std::ranges::binary_search(rows, info->id, {}, [](const auto& row) {
                            return std::string_view(row.info->id);
                          });
    if (!is_shown) info.reset();
  };
  for (ProcessRow& process : view.processes) {  // what a process is in may be another's
    hide(process.container, view.containers);
    hide(process.vm, view.vms);
  }
}

}  // namespace keplerd
