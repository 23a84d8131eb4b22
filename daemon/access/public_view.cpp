// SPDX-License-Identifier: Apache-2.0
#include "daemon/access/public_view.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "report/fields.h"
#include "report/row_kinds.h"

namespace keplerd {
namespace {

// For the host or a zone. Active and idle are floored separately: each is monotonic and their sum is exact.
template <class Row>
Microjoules public_energy(const Row& row) {
  return floored(row.active) + floored(row.idle);
}

// Energies counted earlier, as these are shown. `Earlier` has `energy` and `idle`.
template <class Earlier>
void show_floored(Earlier& earlier) {
  const Microjoules active = floored(earlier.energy - earlier.idle);
  earlier.idle = floored(earlier.idle);
  earlier.energy = active + earlier.idle;
}

// Filters members as the list of fields says; the energies of nested rows are computed.
template <class Row>
void hide(Row& row) {
  for_each_field<Row>([&row]<class Get, class Differs>(const Field<Get, Differs>& field) {
    using Value = std::remove_cvref_t<std::invoke_result_t<Get, const Report&, const Row&>>;
    if constexpr (requires { row.*field.get.pointer; }) {
      auto& member = row.*field.get.pointer;
      if constexpr (std::is_same_v<decltype(member), Microjoules&>) {
        if (field.shown == Public::kFloored) member = floored(member);
      }
      if constexpr (std::is_same_v<decltype(member), std::optional<Microjoules>&>) {
        if (field.shown == Public::kFloored && member) member = floored(*member);
      }
      if (field.shown == Public::kHidden) member = {};
    } else if constexpr (std::is_same_v<Value, VmParts>) {
      row.parts = {};
    } else if constexpr (std::is_same_v<Value, ZoneShares>) {
      row.zones = {};
    }
  });
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

// The energies shown for nested rows; null for kinds that are not nested.
const std::vector<PublicEnergy>* nested_energies(const PublicEnergies* energies, RowKind kind) {
  if (energies == nullptr) return nullptr;
  if (kind == RowKind::kUnits) return &energies->units;
  if (kind == RowKind::kContainers) return &energies->containers;
  return kind == RowKind::kPods ? &energies->pods : nullptr;
}

template <class Row>
PublicEnergy shown_energy(const std::vector<Row>& rows, std::size_t i,
                          const std::vector<PublicEnergy>* nested) {
  if (nested != nullptr) return (*nested)[i];
  return {.active = floored(rows[i].active), .idle = floored(rows[i].idle), .own = {}, .in_parent = {}};
}

// Whether the row belongs to this user.
auto owned_by(uid_t user) {
  return [user](const WorkloadRow& row) { return row.owner == user; };
}

class ViewMaker {
 public:
  explicit ViewMaker(const PublicTick& tick)
      : tick_(tick), now_(*tick.now.report), before_(tick.before.report.get()) {
    if (before_ == nullptr) return;
    window_ = now_.monotonic - before_->monotonic;
    if (is_power_known()) span_ = window_;
  }

  void make_host(Report& view) const {
    view.full = false;
    view.sequence = now_.sequence;
    view.realtime = now_.realtime;
    view.monotonic = now_.monotonic;
    view.window = window_;
    view.instance_id = now_.instance_id;
    view.since = now_.since;
    view.discarded_windows = now_.discarded_windows;
    view.groups_left_out = now_.groups_left_out;
    view.missed_ends = now_.missed_ends;
    view.processes_left_out = now_.processes_left_out;
    view.own_cost = {.cpu = now_.own_cost.cpu, .memory = now_.own_cost.memory};
    if (before_ != nullptr) view.own_cost.window_cpu = now_.own_cost.cpu - before_->own_cost.cpu;
    // Whether VMs of libvirt are running is not public.
    std::ranges::copy_if(now_.problems, std::back_inserter(view.problems),
                         [](const Problem& problem) { return problem.kind != ProblemKind::kLibvirt; });
    view.source = now_.source;
    view.rules = now_.rules;
    for (const ZoneModelState& model : now_.models)
      view.models.push_back({.zone = model.zone, .knowledge = model.knowledge, .figures = {}});
    view.workload_quality = now_.workload_quality;
    view.earlier = now_.earlier;
    if (view.earlier) show_floored(*view.earlier);
    view.host = public_row(now_.host, before_ == nullptr ? nullptr : &before_->host);
    view.host.cpu = before_ == nullptr ? std::nullopt : cpu_use(before_->host.ticks, now_.host.ticks);
  }

  // Its energies are of the host, and rounded down like those; its rest's power is then that of the counter.
  void make_platform(Report& view) const {
    if (!now_.platform) return;
    const PlatformReport& now = *now_.platform;
    const bool known = before_ != nullptr && before_->platform && before_->platform->id == now.id;
    const PlatformReport before = known ? *before_->platform : PlatformReport{};
    view.platform = now;
    view.platform->energy = floored(now.energy);
    view.platform->power =
        now.power && before.power ? power(floored(now.energy), floored(before.energy)) : std::nullopt;
    view.platform->rest_power = now.rest_power && before.rest_power && now.rest && before.rest
                                    ? power(floored(*now.rest), floored(*before.rest))
                                    : std::nullopt;
    view.platform->rest_error.reset();
    view.platform->contradiction.reset();
    for (auto* const energy : {&view.platform->rest, &view.platform->earlier, &view.platform->earlier_rest}) {
      if (*energy) *energy = floored(**energy);
    }
  }

  void make_zones(Report& view) const {
    for (std::size_t i = 0; i < now_.zones.size(); ++i) {
      const bool known = before_ != nullptr && i < before_->zones.size();
      ZoneRow& row = view.zones.emplace_back(public_row(now_.zones[i], known ? &before_->zones[i] : nullptr));
      if (row.earlier) show_floored(*row.earlier);
    }
  }

  template <class Sees>
  void make_workloads(Sees sees, Report& view) const {
    const auto make = [&](RowKind kind, auto rows) {
      const Report none;
      make_rows(kind, now_.*rows, (before_ == nullptr ? none : *before_).*rows, sees, view.*rows);
    };
    make(RowKind::kUnits, &Report::units);
    make(RowKind::kVms, &Report::vms);
    make(RowKind::kContainers, &Report::containers);
    make(RowKind::kPods, &Report::pods);
  }

  template <class Sees>
  void make_processes(Sees sees, ProcessRows& view) const {
    make_rows(RowKind::kProcesses, processes_of(tick_.now), processes_of(tick_.before), sees, view.rows);
  }

  // Events of the user's VMs.
  void make_events(uid_t user, Report& view) const {
    if (!now_.vm_events || now_.vm_events->empty()) return;
    std::vector<VmEvent> events;
    std::ranges::copy_if(*now_.vm_events, std::back_inserter(events),
                         [user](const VmEvent& event) { return event.owner == user; });
    if (!events.empty()) view.vm_events = std::make_shared<const std::vector<VmEvent>>(std::move(events));
  }

 private:
  // Whether each zone of the total was counted over the whole of the span.
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

  // The rows of one kind that `sees` accepts.
  template <class Row, class Sees>
  void make_rows(RowKind kind, const std::vector<Row>& rows, const std::vector<Row>& rows_before, Sees sees,
                 std::vector<Row>& shown) const {
    const auto* const energies = nested_energies(tick_.energies.get(), kind);
    const auto* const energies_before = nested_energies(tick_.energies_before.get(), kind);
    std::size_t last = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!sees(rows[i])) continue;
      auto order = std::strong_ordering::less;
      while (last < rows_before.size() && (order = compare_workloads(rows_before[last], rows[i])) < 0) ++last;
      const bool known = order == 0;
      const PublicEnergy energy = shown_energy(rows, i, energies);
      const PublicEnergy was = known ? shown_energy(rows_before, last, energies_before) : PublicEnergy{};
      Row& row = shown.emplace_back(rows[i]);
      row.active = energy.active;
      row.idle = energy.idle;
      row.power = power(energy.active + energy.idle, was.active + was.idle);
      row.idle_power = energy.idle == Microjoules{} ? std::nullopt : power(energy.idle, was.idle);
      hide(row);
      show_computed(row, energy);
    }
  }

  // For the host or a zone: rows with active and idle power.
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
  Nanoseconds window_{0};  // between the two ticks
  Nanoseconds span_{0};    // of the power; 0: power is unknown
};

// Calls `f` with a predicate that selects visible rows; not at all if the rule is the host alone.
template <class F>
void with_rule(PublicAccess rule, uid_t user, F f) {
  if (rule == PublicAccess::kOwn) f(owned_by(user));
  if (rule == PublicAccess::kAll) f([](const auto&) { return true; });
}

// A process may be inside another user's workload.
void hide_others(const Report& shown, ProcessRow& process) {
  const auto hide = [](auto& info, const auto& rows) {
    const bool is_shown = info && std::ranges::binary_search(rows, info->id, {}, [](const auto& row) {
                            return std::string_view(row.info->id);
                          });
    if (!is_shown) info.reset();
  };
  hide(process.container, shown.containers);
  hide(process.vm, shown.vms);
}

}  // namespace

std::shared_ptr<const Report> public_report(const PublicTick& tick, PublicAccess rule, uid_t user) {
  auto view = std::make_shared<Report>();
  const ViewMaker maker(tick);
  maker.make_host(*view);
  maker.make_platform(*view);
  if (rule == PublicAccess::kAll) maker.make_zones(*view);
  with_rule(rule, user, [&](auto sees) { maker.make_workloads(sees, *view); });
  if (rule == PublicAccess::kAll) view->vm_events = tick.now.report->vm_events;
  if (rule == PublicAccess::kOwn) maker.make_events(user, *view);
  return view;
}

std::shared_ptr<const ProcessRows> public_processes(const PublicTick& tick, PublicAccess rule, uid_t user,
                                                    const Report& shown) {
  if (!tick.now.processes) return nullptr;
  auto view = std::make_shared<ProcessRows>();
  const PublicTick powerless{.now = tick.now};
  const bool knows_power = tick.before.processes && tick.before.processes->is_complete;
  const ViewMaker maker(knows_power && tick.now.processes->is_complete ? tick : powerless);
  with_rule(rule, user, [&](auto sees) { maker.make_processes(sees, *view); });
  if (rule == PublicAccess::kOwn) {
    for (ProcessRow& process : view->rows) hide_others(shown, process);
  }
  return view;
}

}  // namespace keplerd
