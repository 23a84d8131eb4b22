// SPDX-License-Identifier: Apache-2.0
#include "daemon/meter_host.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "daemon/report_checks.h"

namespace keplerd {

MeterHost::MeterHost() {
  files.add_powercap_zone({.dir = "intel-rapl:0", .name = "package-0", .limits = {100'000'000}});
  files.add_powercap_zone({.dir = "intel-rapl:0:0", .name = "dram"});
  files.set_stat(ticks);
}

MeterHost::~MeterHost() = default;

const Report& MeterHost::begin(SourceChoice choice, Ledger ledger, std::vector<SavedReading> saved) {
  root_ = std::make_unique<HostRoot>(files.open());
  meter_ = std::make_unique<Meter>(
      *root_, std::move(choice), std::move(ledger), std::move(saved), [this] { return now; }, limits);
  if (const auto usage = std::exchange(resume_from, std::nullopt)) meter_->resume(*usage);
  return take_sample();
}

const Report& MeterHost::take_sample() {
  meter_->sample();
  view_ = {meter_->report(), meter_->processes()};
  expect_sums(view_);
  return *view_.report;
}

void MeterHost::pass(Nanoseconds time) {
  now.monotonic += time;
  now.boottime += time;
  now.realtime += std::chrono::duration_cast<Realtime>(time);
  ticks.user += time / std::chrono::milliseconds(20);
  ticks.idle += time / std::chrono::milliseconds(20);
  files.set_stat(ticks, cpus);
}

const Report& MeterHost::step(Nanoseconds time) {
  pass(time);
  const ReportView before = view_;
  const Report& report = take_sample();
  expect_no_step_back(before, view_);
  return report;
}

void MeterHost::draw(std::int64_t package_microjoules, std::int64_t dram_microjoules) {
  package_ += package_microjoules;
  dram_ += dram_microjoules;
  files.set_energy("intel-rapl:0", package_);
  files.set_energy("intel-rapl:0:0", dram_);
}

const UnitRow& MeterHost::unit(const std::string& id) const {
  for (const UnitRow& unit : view_.report->units) {
    if (unit.info->id == id) return unit;
  }
  throw std::runtime_error("no row of unit " + id);
}

const ProcessRow* MeterHost::process(pid_t pid) const {
  for (const ProcessRow& process : view_.processes->rows) {
    if (process.info->id.pid == pid) return &process;
  }
  return nullptr;
}

namespace {

template <class Row>
const Row* find_row(const std::vector<Row>& rows, const std::string& id) {
  const auto row = std::ranges::find_if(rows, [&](const Row& one) { return one.info->id == id; });
  return row == rows.end() ? nullptr : &*row;
}

}  // namespace

const VmRow* MeterHost::vm(const std::string& id) const { return find_row(view_.report->vms, id); }

const ContainerRow* MeterHost::container(const std::string& id) const {
  return find_row(view_.report->containers, id);
}

const ContainerRow* MeterHost::pod(const std::string& id) const { return find_row(view_.report->pods, id); }

}  // namespace keplerd
