// SPDX-License-Identifier: Apache-2.0
#include "daemon/report_checks.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

namespace keplerd {
namespace {

void expect_zones_of(const Report& report, const WorkloadRow& row, const std::string& id) {
  Microjoules sum, idle;
  ASSERT_EQ(row.zones.size(), report.zones.size()) << id;
  for (std::size_t i = 0; i < row.zones.size(); ++i) {
    if (!report.zones[i].zone.in_total) continue;
    sum += row.zones[i].energy;
    idle += row.zones[i].idle;
  }
  EXPECT_EQ((row.active + row.idle).value, sum.value) << id;
  EXPECT_EQ(row.idle.value, idle.value) << id;
}

void expect_host(const Report& report) {
  EXPECT_EQ(report.host.energy.value, (report.host.active + report.host.idle).value);
  const AccountsReport& accounts = report.accounts;
  EXPECT_EQ(report.host.energy.value,
            (accounts.idle + accounts.kernel + accounts.workloads + accounts.unattributed).value);
  for (const Microjoules account :
       {accounts.idle, accounts.kernel, accounts.workloads, accounts.unattributed}) {
    EXPECT_GE(account.value, 0);
  }
  Microjoules zones;
  for (const ZoneRow& zone : report.zones) {
    EXPECT_EQ(zone.energy.value, (zone.active + zone.idle).value) << zone.zone.id;
    if (zone.zone.in_total) zones += zone.energy;
  }
  EXPECT_EQ(report.host.energy.value, zones.value);
}

void expect_units(const Report& report, const std::vector<ProcessRow>& all) {
  std::map<std::string, Microjoules> children, processes;
  Microjoules outside = report.outside_other;
  for (const ProcessRow& process : all) {
    expect_zones_of(report, process, process_id_text(process.info->id));
    EXPECT_LE(process.in_unit.value, (process.active + process.idle).value)
        << process_id_text(process.info->id);
    if (process.unit) {
      processes[process.unit->id] += process.in_unit;
    } else {
      outside += process.in_unit;
    }
  }
  for (const UnitRow& unit : report.units) {
    if (unit.info->parent) children[*unit.info->parent] += unit.active + unit.idle;
  }
  Microjoules own;
  for (const UnitRow& unit : report.units) {
    expect_zones_of(report, unit, unit.info->id);
    EXPECT_EQ((unit.active + unit.idle).value, (unit.own + children[unit.info->id]).value) << unit.info->id;
    const Microjoules undivided = unit.undivided.value_or(Microjoules{});
    EXPECT_EQ(unit.own.value, (unit.other + undivided + processes[unit.info->id]).value) << unit.info->id;
    EXPECT_GE(undivided.value, 0) << unit.info->id;
    EXPECT_GE(unit.other.value, 0) << unit.info->id;
    own += unit.own;
    children.erase(unit.info->id);
    processes.erase(unit.info->id);
  }
  EXPECT_TRUE(children.empty()) << "the parent of a unit is not listed: " << children.begin()->first;
  EXPECT_TRUE(processes.empty()) << "the unit of a process is not listed: " << processes.begin()->first;
  EXPECT_EQ((own + outside).value, report.accounts.workloads.value);
}

void expect_containers(const Report& report, const std::vector<ProcessRow>& all) {
  std::map<std::string, Microjoules> inside, processes;
  std::set<std::string> ids;
  for (const auto* const rows : {&report.containers, &report.pods}) {
    for (const ContainerRow& row : *rows) {
      EXPECT_TRUE(ids.insert(row.info->id).second) << row.info->id << " is listed twice";
      EXPECT_EQ(row.info->is_pod, rows == &report.pods) << row.info->id;
      expect_zones_of(report, row, row.info->id);
      EXPECT_LE(row.in_parent.value, (row.active + row.idle).value) << row.info->id;
      if (row.info->parent) inside[*row.info->parent] += row.in_parent;
    }
  }
  for (const ProcessRow& process : all) {
    if (process.container) processes[process.container->id] += process.in_unit;
  }
  for (const auto* const rows : {&report.containers, &report.pods}) {
    for (const ContainerRow& row : *rows) {
      const std::string& id = row.info->id;
      EXPECT_EQ((row.active + row.idle).value, (row.own + inside[id]).value) << id;
      EXPECT_GE(row.other.value, 0) << id;
      const Microjoules undivided = row.undivided.value_or(Microjoules{});
      EXPECT_GE(row.own, row.other + undivided) << id;
      EXPECT_GE(undivided.value, 0) << id;
      if (!row.info->is_pod) {
        EXPECT_EQ(row.own.value, (row.other + undivided + processes[id]).value) << id;
      }
      inside.erase(id);
      processes.erase(id);
    }
  }
  Microjoules outside = report.outside_containers;
  for (const auto* const rows : {&report.containers, &report.pods})
    for (const ContainerRow& row : *rows)
      if (!row.info->parent) outside += row.active + row.idle;
  EXPECT_EQ(outside.value, report.accounts.workloads.value);
  EXPECT_TRUE(inside.empty()) << "not listed, although something is inside: " << inside.begin()->first;
  EXPECT_TRUE(processes.empty()) << "the container of a process is not listed: " << processes.begin()->first;
}

void expect_vms(const Report& report, const std::vector<ProcessRow>& all) {
  std::set<std::string> ids;
  for (const VmRow& row : report.vms) {
    EXPECT_TRUE(ids.insert(row.info->id).second) << row.info->id << " is listed twice";
    expect_zones_of(report, row, row.info->id);
    if (row.parts.empty()) continue;
    Microjoules parts;
    for (const VmPart& part : row.parts) {
      parts += part.energy;
      EXPECT_GE(part.energy.value, 0) << row.info->id << " " << part.name;
    }
    EXPECT_EQ(parts.value, (row.active + row.idle).value) << row.info->id;
  }
  for (const ProcessRow& process : all) {
    if (process.vm && process.running) {
      EXPECT_TRUE(ids.contains(process.vm->id)) << process_id_text(process.info->id);
    }
  }
}

template <class Rows, class Id>
void expect_rows_no_step_back(const Rows& earlier, const Rows& later, Id id) {
  std::map<std::string, const typename Rows::value_type*> before;
  for (const auto& row : earlier) before[id(row)] = &row;
  for (const auto& row : later) {
    const auto known = before.find(id(row));
    if (known == before.end()) continue;
    if constexpr (requires { row.owner; }) {
      if (row.owner != known->second->owner) continue;  // another owner's, with the better claim to the id
    }
    EXPECT_GE(row.active.value, known->second->active.value) << id(row);
    EXPECT_GE(row.idle.value, known->second->idle.value) << id(row);
    EXPECT_GE(row.cpu, known->second->cpu) << id(row);
    if constexpr (requires { row.other; }) {
      EXPECT_GE(row.other.value, known->second->other.value) << id(row);
    }
    EXPECT_EQ(row.since, known->second->since) << id(row);
  }
}

}  // namespace

void expect_sums(const ReportView& view) {
  expect_host(*view.report);
  expect_units(*view.report, view.processes->rows);
  expect_containers(*view.report, view.processes->rows);
  expect_vms(*view.report, view.processes->rows);
}

void expect_no_step_back(const ReportView& earlier_view, const ReportView& later_view) {
  const Report &earlier = *earlier_view.report, &later = *later_view.report;
  EXPECT_GE(later.host.energy, earlier.host.energy);
  EXPECT_GE(later.host.idle, earlier.host.idle);
  EXPECT_GE(later.accounts.kernel, earlier.accounts.kernel);
  EXPECT_GE(later.accounts.workloads, earlier.accounts.workloads);
  EXPECT_GE(later.accounts.unattributed, earlier.accounts.unattributed);
  ASSERT_GE(later.zones.size(), earlier.zones.size());
  for (std::size_t i = 0; i < earlier.zones.size(); ++i) {
    EXPECT_EQ(later.zones[i].zone.id, earlier.zones[i].zone.id);
    EXPECT_GE(later.zones[i].energy, earlier.zones[i].energy);
  }
  expect_rows_no_step_back(earlier.units, later.units, [](const UnitRow& row) { return row.info->id; });
  expect_rows_no_step_back(earlier.vms, later.vms, [](const VmRow& row) { return row.info->id; });
  for (const auto rows : {&Report::containers, &Report::pods}) {
    expect_rows_no_step_back(earlier.*rows, later.*rows,
                             [](const ContainerRow& row) { return row.info->id; });
  }
  expect_rows_no_step_back(earlier_view.processes->rows, later_view.processes->rows,
                           [](const ProcessRow& row) { return process_id_text(row.info->id); });
}

}  // namespace keplerd
