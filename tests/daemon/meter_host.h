// SPDX-License-Identifier: Apache-2.0
// A written host with a meter and a clock controlled by the test. Every report is checked.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/meter.h"
#include "support/fake_host.h"

namespace keplerd {

class MeterHost {
 public:
  // One package with a limit of 100 W and its DRAM, and idle CPUs.
  MeterHost();
  ~MeterHost();

  FakeHost files;
  Instant now{.monotonic = std::chrono::hours(1),
              .boottime = std::chrono::hours(1),
              .realtime = std::chrono::seconds(1'700'000'000)};
  UsageLimits limits;                          // set before it begins
  std::optional<SavedUsage> resume_from = {};  // likewise
  FakeCpuTicks ticks{.user = 1000, .idle = 9000};
  std::vector<FakeCpuTicks> cpus;  // of each CPU; mostly not listed

  // Starts to measure, and takes the first sample: the baseline.
  const Report& begin(SourceChoice choice = {}, Ledger ledger = Ledger("instance", Realtime(1)),
                      std::vector<SavedReading> saved = {});

  // Time passes, in which the CPUs were busy for half of it; and another sample after that.
  void pass(Nanoseconds time);
  const Report& step(Nanoseconds time = std::chrono::seconds(1));

  void draw(std::int64_t package_microjoules, std::int64_t dram_microjoules = 0);

  Meter& meter() { return *meter_; }
  // The last report and its processes.
  const ReportView& view() const { return view_; }
  const UnitRow& unit(const std::string& id) const;
  // Null if there is no row.
  const ProcessRow* process(pid_t pid) const;
  const VmRow* vm(const std::string& id) const;
  const ContainerRow* container(const std::string& id) const;
  const ContainerRow* pod(const std::string& id) const;

 private:
  const Report& take_sample();

  std::unique_ptr<HostRoot> root_;
  std::unique_ptr<Meter> meter_;
  ReportView view_;
  std::int64_t package_ = 0, dram_ = 0;
};

}  // namespace keplerd
