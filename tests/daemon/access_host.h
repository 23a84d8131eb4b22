// SPDX-License-Identifier: Apache-2.0
// Reports of a host with two users, and what is visible of them.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "daemon/access/access.h"
#include "workloads/unit_name.h"

namespace keplerd {

inline constexpr uid_t kDaemon = 990, kJoe = 1000, kEve = 1001;
inline constexpr gid_t kKeplerdGid = 991, kUsersGid = 100;

inline std::shared_ptr<const UnitInfo> unit_info(const std::string& id) {
  return std::make_shared<UnitInfo>(UnitInfo{.id = id, .name = id.substr(id.rfind('/') + 1), .parent = {}});
}

// A host of joe, eve and the system. Every energy is `energy`, of which a third is idle.
class ReportMaker {
 public:
  explicit ReportMaker(Nanoseconds time, Microjoules energy = {1'234'567}, std::uint64_t sequence = 1)
      : energy_(energy) {
    report_->monotonic = time;
    report_->sequence = sequence;
    report_->source = {.name = "powercap", .quality = Quality::kMeasured, .reason = {}};
    fill(report_->host);
    report_->host.energy = energy;
    report_->accounts = {.idle = report_->host.idle, .kernel = {1}, .workloads = {2}, .unattributed = {3}};
    report_->outside_other = {4};
    report_->outside_containers = {2};
    add_zone();
    for (const char* id :
         {"/machine.slice/vm.scope", "/system.slice", "/system.slice/cron.service", "/user.slice",
          "/user.slice/user-1000.slice", "/user.slice/user-1000.slice/app.scope",
          "/user.slice/user-1000.sliced", "/user.slice/user-10001.slice", "/user.slice/user-1001.slice"})
      add_unit(id);
    add_container("joes", "/user.slice/user-1000.slice/libpod-joes.scope", report_->containers);
    add_container("systems", "/system.slice/docker-systems.scope", report_->containers);
    add_container("pod", "/kubepods/pod", report_->pods);
    const auto mine = add_vm("by-process", 11, "/system.slice/cron.service", kJoe);
    add_vm("in-slice", 99, "/user.slice/user-1000.slice/qemu.scope", kJoe);
    add_vm("nobodys", 98, "/user.slice/user-1000.slice/qemu.scope", std::nullopt);
    const auto systems = add_vm("systems", 12, "/machine.slice/vm.scope", 0);
    add_process(10, kJoe);
    add_process(11, kJoe, mine);
    add_process(12, 0, systems);
    add_process(13, kEve, mine);  // helps to run it, and is not what runs it
    add_process(14, std::nullopt);
    report_->vm_events = events_;
  }

  Report& operator*() { return *report_; }
  ProcessRows& processes() { return *processes_; }
  ReportView take() { return {std::move(report_), std::move(processes_)}; }

 private:
  template <class Row>
  void fill(Row& row) {
    row.idle = {energy_.value / 3};
    row.active = energy_ - row.idle;
    row.power = Microwatts{77};
  }

  template <class Row>
  Row& fill_workload(Row& row) {
    fill(row);
    row.zones = shares_;
    return row;
  }

  void add_zone() {
    ZoneRow& zone = report_->zones.emplace_back();
    zone.zone = {.id = "powercap:package:0", .name = "package", .in_total = true};
    fill(zone);
    zone.energy = energy_;
  }

  void add_unit(const std::string& id) {
    UnitRow& row = fill_workload(report_->units.emplace_back());
    row.info = unit_info(id);
    row.owner = slice_user(id).value_or(0);
    row.own = row.other = energy_;
  }

  void add_container(const std::string& id, const std::string& unit, std::vector<ContainerRow>& rows) {
    ContainerRow& row = fill_workload(rows.emplace_back());
    row.own = row.other = row.in_parent = energy_;
    row.owner = slice_user(unit).value_or(0);
    row.info = std::make_shared<ContainerInfo>(
        ContainerInfo{.id = id, .name = id, .runtime = "x", .parent = {}, .pod = {}, .unit = unit});
  }

  std::shared_ptr<const VmInfo> add_vm(const std::string& id, std::int32_t pid, const std::string& unit,
                                       std::optional<uid_t> user) {
    VmRow& row = fill_workload(report_->vms.emplace_back());
    row.owner = user;
    row.parts = {{"vcpu0", energy_}};
    VmInfo info{};
    info.id = info.name = id;
    info.pid = pid;
    info.unit = unit;
    row.info = std::make_shared<VmInfo>(std::move(info));
    events_->push_back({.number = events_->size() + 1,
                        .at = Realtime(1),
                        .id = id,
                        .name = id,
                        .owner = user,
                        .event = "started",
                        .reason = {}});
    return row.info;
  }

  void add_process(std::int32_t pid, std::optional<std::uint32_t> user,
                   std::shared_ptr<const VmInfo> vm = nullptr) {
    ProcessRow& row = fill_workload(processes_->rows.emplace_back());
    row.in_unit = energy_;
    row.vm = std::move(vm);
    row.info = std::make_shared<ProcessInfo>(ProcessInfo{.id = {pid, 7}, .comm = "x", .user = user});
    row.owner = user;
  }

  static constexpr std::array<ZoneShare, 1> shares_ = {};
  Microjoules energy_;
  std::shared_ptr<std::vector<VmEvent>> events_ = std::make_shared<std::vector<VmEvent>>();
  std::shared_ptr<Report> report_ = std::make_shared<Report>();
  std::shared_ptr<ProcessRows> processes_ = std::make_shared<ProcessRows>();
};

// Everything visible in a report.
struct Seen {
  bool anything = false, accounts = false, zones = false;
  std::vector<std::string> units, vms, containers, pods, processes, events;
  bool operator==(const Seen&) const = default;
  friend void PrintTo(const Seen& seen, std::ostream* out) {
    *out << (seen.anything ? "seen" : "nothing") << (seen.accounts ? " accounts" : "")
         << (seen.zones ? " zones" : "") << " " << testing::PrintToString(seen.units)
         << testing::PrintToString(seen.vms) << testing::PrintToString(seen.containers)
         << testing::PrintToString(seen.pods) << testing::PrintToString(seen.processes)
         << testing::PrintToString(seen.events);
  }
};

template <class Row>
std::vector<std::string> ids(const std::vector<Row>& rows) {
  std::vector<std::string> ids;
  for (const Row& row : rows) {
    if constexpr (std::is_same_v<Row, ProcessRow>) {
      ids.push_back(std::to_string(row.info->id.pid));
    } else {
      ids.push_back(row.info->id);
    }
  }
  return ids;
}

inline std::vector<std::string> vms_with_events(const Report& report) {
  std::vector<std::string> ids;
  if (!report.vm_events) return ids;
  for (const VmEvent& event : *report.vm_events) ids.push_back(event.id);
  return ids;
}

inline Seen seen_in(const ReportView& view) {
  const auto& report = view.report;
  if (!report) return {};
  return {true,
          report->full,
          !report->zones.empty(),
          ids(report->units),
          ids(report->vms),
          ids(report->containers),
          ids(report->pods),
          ids(processes_of(view)),
          vms_with_events(*report)};
}

// Access, with samples as keplerd takes them.
class SampledAccess : public Access {
 public:
  explicit SampledAccess(std::optional<gid_t> group = kKeplerdGid)
      : Access(kDaemon, group, [this] {
          ++made;
          return processes_;
        }) {}

  void sample(ReportMaker maker) {
    const ReportView sampled = maker.take();
    keep_processes(sampled.report->monotonic);
    processes_ = sampled.processes;
    add(sampled.report);
  }

  int made = 0;  // how often processes were created

 private:
  std::shared_ptr<const ProcessRows> processes_;
};

// Like a pointer to the report, which tests use most of the time.
struct Sight : ReportView {
  const Report* operator->() const { return report.get(); }
  const Report& operator*() const { return *report; }
  const std::vector<ProcessRow>& rows_of_processes() const { return processes->rows; }
  friend bool operator==(const Sight& a, const Sight& b) { return a.report == b.report; }
};

inline Sight seen_by(Access& access, uid_t user, std::vector<gid_t> groups) {
  return {access.view_for(access.identify(user, groups), RowKind::kProcesses)};
}

// For one user who is not a member of the group.
class Public : public testing::Test {
 protected:
  void tick(Nanoseconds time, Microjoules energy, Nanoseconds window = std::chrono::seconds(1)) {
    ReportMaker report(time, energy, ++sequence_);
    (*report).window = window;
    access.sample(std::move(report));
  }
  Sight seen() { return seen_by(access, kJoe, {kUsersGid}); }

  SampledAccess access;

 private:
  std::uint64_t sequence_ = 0;
};

}  // namespace keplerd
