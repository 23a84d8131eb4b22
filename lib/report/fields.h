// SPDX-License-Identifier: Apache-2.0
// The fields of each kind of rows, listed once. varlink's JSON, the rows and objects on D-Bus, change
// detection, and what callers without full access get are all derived from these lists; varlink/*.varlink,
// dbus/*.xml and the manuals describe them, and a test compares them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "report/field.h"
#include "report/values.h"

namespace keplerd {

namespace fields {

constexpr std::uint32_t process_number(std::int32_t pid) { return static_cast<std::uint32_t>(pid); }

constexpr std::string_view state_text(bool running) { return running ? "running" : "terminated"; }

// One standard deviation; absent if there is nothing to take a part of.
constexpr auto error_percent = [](const Report&, const WorkloadRow& row) -> std::optional<std::uint32_t> {
  if (!row.error || row.active <= Microjoules{}) return std::nullopt;
  constexpr std::int64_t kNormal95 = 196;  // hundredths of a standard deviation
  const auto percent = static_cast<__int128>(row.error->value) * 10'000 / row.active.value;
  return static_cast<std::uint32_t>((percent + kNormal95 / 2) / kNormal95);
};

// Fields common to all workloads. `id`, `name`, `kind`: from report and row.
template <class Id, class Name, class Kind>
constexpr auto workload(Id id, Name name, Kind kind) {
  using Row = WorkloadRow;
  return std::tuple{
      computed("id", id, never_changes("Id")),
      computed("name", name, emits_changes("Name")),
      computed("kind", kind),
      Field{"state", emits_changes("State"), Public::kShown,
            [](const Report&, const Row& row) { return state_text(row.running); },
            MemberDiffers<Row, bool>{&Row::running}},
      computed(
          "energyMicrojoules", [](const Report&, const Row& row) { return row.active + row.idle; },
          live("Energy"), Public::kComputed),
      member("activeMicrojoules", &Row::active, Public::kComputed, live("ActiveEnergy")),
      member("idleMicrojoules", &Row::idle, Public::kComputed, live("IdleEnergy")),
      member("powerMicrowatts", &Row::power, Public::kComputed, live("Power")),
      member("idleMicrowatts", &Row::idle_power, Public::kComputed),
      member("errorMicrojoules", &Row::error, Public::kHidden),
      computed("errorPercent", error_percent),
      member("cpuUsec", &Row::cpu, Public::kShown, live("CPUUSec")),
      Field{"zones", live("Zones"), Public::kHidden,
            [](const Report& report, const Row& row) {
              return ZoneShares{report, row.zones, row.earlier.get()};
            },
            [](const Report&, const Row& a, const Report&, const Row& b) {
              return !std::ranges::equal(a.zones, b.zones);
            }},
      Field{"quality", live("Quality"), Public::kShown,
            [](const Report& report, const Row&) { return quality_name(report.workload_quality); },
            [](const Report& a, const Row&, const Report& b, const Row&) {
              return a.workload_quality != b.workload_quality;
            }},
      member("sinceUsec", &Row::since, Public::kShown, live("SinceUSec")),
      member("ownerUid", &Row::owner, Public::kShown, emits_changes("OwnerUID")),
      member("earlierMicrojoules", &Row::earlier_energy, Public::kFloored),
      member("earlierIdleMicrojoules", &Row::earlier_idle, Public::kFloored),
      computed("earlierCpuUsec", [](const Report&, const Row& row) {
        return row.earlier ? std::optional(row.earlier->cpu) : std::nullopt;
      })};
}

template <class Row>
constexpr auto workload(std::string_view (*kind)(const Row&)) {
  return workload([](const Report&, const Row& row) -> const std::string& { return row.info->id; },
                  [](const Report&, const Row& row) -> const std::string& { return row.info->name; },
                  [kind](const Report&, const Row& row) { return kind(row); });
}

template <class Row>
using InfoOf = std::remove_cvref_t<decltype(*std::declval<const Row&>().info)>;

// Fields of workloads that may be nested in others of their kind.
template <class Row>
constexpr auto nested() {
  return std::tuple{described("parent", &InfoOf<Row>::parent),
                    member("ownMicrojoules", &Row::own, Public::kComputed),
                    member("otherMicrojoules", &Row::other, Public::kComputed),
                    member("undividedMicrojoules", &Row::undivided, Public::kHidden)};
}

template <class T>
struct Of {};

constexpr auto list(Of<UnitRow>) {
  constexpr auto kind = [](const UnitRow& row) -> std::string_view {
    return row.info->is_unit ? "unit" : "group";
  };
  return std::tuple_cat(workload<UnitRow>(kind), nested<UnitRow>());
}

constexpr auto list(Of<VmRow>) {
  constexpr auto kind = [](const VmRow&) -> std::string_view { return "virtual-machine"; };
  return std::tuple_cat(
      workload<VmRow>(kind),
      std::tuple{described("hypervisor", &VmInfo::hypervisor, emits_changes("Hypervisor")),
                 described("uuid", &VmInfo::uuid, emits_changes("Uuid")),
                 computed(
                     "pid", [](const Report&, const VmRow& row) { return process_number(row.info->pid); },
                     emits_changes("Pid")),
                 described("unit", &VmInfo::unit, emits_changes("Unit")),
                 described("containerId", &VmInfo::container, emits_changes("ContainerId")),
                 computed(
                     "guestElsewhere",
                     [](const Report&, const VmRow& row) {
                       return row.info->guest_elsewhere ? std::optional(true) : std::nullopt;
                     },
                     emits_changes("GuestElsewhere")),
                 described("vcpus", &VmInfo::vcpus, emits_changes("VCPUs")),
                 described_if_any("title", &VmInfo::title, emits_changes("Title")),
                 described_if_any("guestState", &VmInfo::guest_state, emits_changes("GuestState")),
                 described("metadata", &VmInfo::metadata, emits_changes("Metadata")),
                 member("haltPollUsec", &VmRow::halt_polling, Public::kShown, live("HaltPollUSec")),
                 Field{"breakdown", live("Breakdown"), Public::kHidden,
                       [](const Report&, const VmRow& row) {
                         return VmParts{row.parts, row.earlier.get()};
                       },
                       MemberDiffers<VmRow, std::vector<VmPart>>{&VmRow::parts}}});
}

// Containers and pods.
constexpr auto list(Of<ContainerRow>) {
  constexpr auto kind = [](const ContainerRow& row) -> std::string_view {
    return row.info->is_pod ? "pod" : "container";
  };
  constexpr auto in_parent = [](const Report&, const ContainerRow& row) {
    return row.info->parent ? std::optional(row.in_parent) : std::nullopt;
  };
  return std::tuple_cat(
      workload<ContainerRow>(kind), nested<ContainerRow>(),
      std::tuple{Field{"parentMicrojoules", Property{}, Public::kComputed, in_parent,
                       MemberDiffers<ContainerRow, Microjoules>{&ContainerRow::in_parent}},
                 described("runtime", &ContainerInfo::runtime), described("podId", &ContainerInfo::pod),
                 described_if_any("namespace", &ContainerInfo::name_space),
                 described("unit", &ContainerInfo::unit), described_if_any("uuid", &ContainerInfo::uuid),
                 described_if_any("title", &ContainerInfo::title),
                 described_if_any("guestState", &ContainerInfo::guest_state)});
}

constexpr auto list(Of<ProcessRow>) {
  constexpr auto id = [](const Report&, const ProcessRow& row) { return process_id_text(row.info->id); };
  constexpr auto name = [](const Report&, const ProcessRow& row) -> const std::string& {
    return row.info->comm;
  };
  constexpr auto kind = [](const Report&, const ProcessRow&) -> std::string_view { return "process"; };
  return std::tuple_cat(
      workload(id, name, kind),
      std::tuple{computed("pid", [](const Report&,
                                    const ProcessRow& row) { return process_number(row.info->id.pid); }),
                 described("comm", &ProcessInfo::comm), member("exe", &ProcessRow::program, Public::kHidden),
                 reference("unit", &ProcessRow::unit), reference("containerId", &ProcessRow::container),
                 reference("virtualMachineId", &ProcessRow::vm),
                 member("unitMicrojoules", &ProcessRow::in_unit, Public::kFloored)});
}

template <class Value>
constexpr auto of_zone(std::string_view name, Value Zone::*pointer, Property property) {
  return Field{name, property, Public::kShown,
               [pointer](const Report&, const ZoneRow& row) -> const Value& { return row.zone.*pointer; },
               [pointer](const Report&, const ZoneRow& a, const Report&, const ZoneRow& b) {
                 return a.zone.*pointer != b.zone.*pointer;
               }};
}

constexpr auto earlier(std::string_view name, Microjoules EarlierZone::*pointer) {
  return computed(
      name,
      [pointer](const Report&, const ZoneRow& row) {
        return row.earlier ? std::optional((*row.earlier).*pointer) : std::nullopt;
      },
      {}, Public::kComputed);
}

constexpr auto list(Of<ZoneRow>) {
  using Row = ZoneRow;
  return std::tuple{of_zone("id", &Zone::id, never_changes("Id")),
                    of_zone("name", &Zone::name, never_changes("Name")),
                    computed("kind", [](const Report&, const Row&) -> std::string_view { return "zone"; }),
                    Field{"state", emits_changes("State"), Public::kShown,
                          [](const Report&, const Row& row) { return state_text(row.current); },
                          MemberDiffers<Row, bool>{&Row::current}},
                    of_zone("index", &Zone::index, never_changes("Index")),
                    Field{"quality", emits_changes("Quality"), Public::kShown,
                          [](const Report&, const Row& row) { return quality_name(row.zone.quality); },
                          [](const Report&, const Row& a, const Report&, const Row& b) {
                            return a.zone.quality != b.zone.quality;
                          }},
                    of_zone("inTotal", &Zone::in_total, emits_changes("InTotal")),
                    member("energyMicrojoules", &Row::energy, Public::kComputed, live("Energy")),
                    member("activeMicrojoules", &Row::active, Public::kComputed, live("ActiveEnergy")),
                    member("idleMicrojoules", &Row::idle, Public::kComputed, live("IdleEnergy")),
                    member("powerMicrowatts", &Row::power, Public::kComputed, live("Power")),
                    member("activeMicrowatts", &Row::active_power, Public::kComputed, live("ActivePower")),
                    member("idleMicrowatts", &Row::idle_power, Public::kComputed, live("IdlePower")),
                    member("problem", &Row::problem, Public::kShown, emits_changes("Problem")),
                    Field{"qualityReason", Property{}, Public::kShown,
                          [](const Report&, const Row& row) {
                            const std::string_view reason = row.zone.quality_reason;
                            return reason.empty() ? std::nullopt : std::optional(reason);
                          },
                          [](const Report&, const Row& a, const Report&, const Row& b) {
                            return a.zone.quality_reason != b.zone.quality_reason;
                          }},
                    member("undividedReason", &Row::undivided, Public::kShown),
                    Field{"covers", Property{}, Public::kShown,
                          [](const Report&, const Row& row) { return coverage_name(coverage_of(row.zone)); },
                          [](const Report&, const Row& a, const Report&, const Row& b) {
                            return coverage_of(a.zone) != coverage_of(b.zone);
                          }},
                    member("ageUsec", &Row::age, Public::kShown),
                    member("lagUsec", &Row::lag, Public::kShown),
                    member("sinceUsec", &Row::since, Public::kShown, live("SinceUSec")),
                    earlier("earlierMicrojoules", &EarlierZone::energy),
                    earlier("earlierIdleMicrojoules", &EarlierZone::idle)};
}

}  // namespace fields

// A std::tuple of Field, in the order of JSON.
template <class Row>
inline constexpr auto kFields = fields::list(fields::Of<Row>{});

// Whether callers without full access get any exact energy or power of a row: exact values reveal to one
// process what another computes (PLATYPUS).
template <class Row>
consteval bool shows_exact_energy() {
  const auto is_exact = []<class Get, class Differs>(const Field<Get, Differs>& field) {
    using Value = std::remove_cvref_t<std::invoke_result_t<Get, const Report&, const Row&>>;
    constexpr bool is_energy = std::is_same_v<Value, Microjoules> ||
                               std::is_same_v<Value, std::optional<Microjoules>> ||
                               std::is_same_v<Value, std::optional<Microwatts>> ||
                               std::is_same_v<Value, ZoneShares> || std::is_same_v<Value, VmParts>;
    return is_energy && field.shown == Public::kShown;
  };
  return std::apply([&](const auto&... field) { return (is_exact(field) || ...); }, kFields<Row>);
}
static_assert(!shows_exact_energy<UnitRow>() && !shows_exact_energy<VmRow>() &&
              !shows_exact_energy<ContainerRow>() && !shows_exact_energy<ProcessRow>() &&
              !shows_exact_energy<ZoneRow>());

// Calls `f` with each field.
template <class Row, class F>
constexpr void for_each_field(F f) {
  std::apply([&f](const auto&... field) { (f(field), ...); }, kFields<Row>);
}

template <class Row>
bool row_differs(const Report& a_report, const Row& a, const Report& b_report, const Row& b) {
  if constexpr (requires { a.info; }) {
    if (a.info != b.info) return true;
  }
  return std::apply([&](const auto&... field) { return (field.differs(a_report, a, b_report, b) || ...); },
                    kFields<Row>);
}

}  // namespace keplerd
