// SPDX-License-Identifier: Apache-2.0
// Complete samples of written trees. There, no inotify reports changes and no process has a clock, so
// everything is rescanned and read each time: more work than on a live host, by the same parsers.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "daemon/meter.h"
#include "ledger/log/writer.h"
#include "scenarios.h"
#include "support/fake_host.h"

namespace keplerd {
namespace {

constexpr std::int64_t kMillisecond = 1000, kTicksPerStep = 1;

class Tick : public Piece {
 public:
  Tick() {
    files_.add_powercap_zone({.dir = "intel-rapl:0", .name = "package-0", .limits = {200'000'000}});
    files_.add_powercap_zone({.dir = "intel-rapl:0:0", .name = "dram"});
  }

  void prepare() final {
    if (!meter_) start();
    ++step_;
    now_.monotonic += std::chrono::seconds(1);
    now_.boottime += std::chrono::seconds(1);
    now_.realtime += std::chrono::seconds(1);
    files_.set_stat({.user = 100'000 + 50 * step_, .idle = 100'000 + 50 * step_});
    files_.set_energy("intel-rapl:0", 50'000'000 * step_);
    files_.set_energy("intel-rapl:0:0", 5'000'000 * step_);
    work(step_);
  }
  void run() final { meter_->sample(); }
  const Meter& meter() const { return *meter_; }

 protected:
  virtual void work(std::int64_t step) = 0;

  FakeHost files_;

 private:
  void start() {
    root_ = std::make_unique<HostRoot>(files_.open());
    meter_ = std::make_unique<Meter>(*root_, SourceChoice{}, Ledger("bench", now_.realtime),
                                     std::vector<SavedReading>{}, [this] { return now_; });
  }

  std::unique_ptr<HostRoot> root_;
  std::unique_ptr<Meter> meter_;
  Instant now_{.monotonic = std::chrono::hours(1),
               .boottime = std::chrono::hours(1),
               .realtime = std::chrono::seconds(1'700'000'000)};
  std::int64_t step_ = 0;
};

constexpr int kUnits = 200, kProcessesPerUnit = 10;

std::string unit(int number) { return fmt::format("/system.slice/bench-{}.service", number); }
pid_t pid(int unit, int number) { return 10'000 + unit * kProcessesPerUnit + number; }

class UnitsTick : public Tick {
 public:
  explicit UnitsTick(int active) : active_(active) {
    for (int i = 0; i < kUnits; ++i) {
      files_.add_cgroup(unit(i));
      for (int j = 0; j < kProcessesPerUnit; ++j) files_.add_process({.pid = pid(i, j), .cgroup = unit(i)});
    }
  }

 private:
  void work(std::int64_t step) override {
    const std::int64_t usec = 10 * kMillisecond * kProcessesPerUnit * step;
    files_.set_cgroup_usage("/system.slice", usec * active_);
    for (int i = 0; i < active_; ++i) {
      files_.set_cgroup_usage(unit(i), usec);
      for (int j = 0; j < kProcessesPerUnit; ++j) files_.set_process_time(pid(i, j), kTicksPerStep * step);
    }
  }

  int active_;
};

// What the write-ahead log adds to each sample, except for its write(2).
class LogOfUnits : public Piece {
 public:
  explicit LogOfUnits(int active) : tick_(active) {}

  void prepare() final {
    tick_.prepare();
    tick_.run();
  }
  void run() final {
    const Meter& meter = tick_.meter();
    writer_.record(meter.ledger(), meter.readings(), meter.changed_usage());
  }

 private:
  UnitsTick tick_;
  LogWriter writer_;
};

// As libvirt lays machines out.
class VmsTick : public Tick {
 public:
  VmsTick() {
    for (int i = 0; i < kVms; ++i) {
      const std::string domain = scope(i) + "/libvirt";
      files_.add_cgroup(domain);
      for (const char* part : kParts) {
        files_.add_cgroup(domain + "/" + part);
        files_.set_cgroup_type(domain + "/" + part, "threaded");
      }
      files_.add_process({.pid = 10'000 + i,
                          .comm = "qemu-system-x86",
                          .cgroup = domain + "/emulator",
                          .cmdline = command_line(i)});
    }
  }

 private:
  static constexpr int kVms = 100;
  static constexpr const char* kParts[] = {"emulator", "vcpu0", "vcpu1", "vcpu2", "vcpu3"};

  static std::string scope(int number) {
    return fmt::format("/machine.slice/machine-qemu\\x2d{0}\\x2dvm{0}.scope", number);
  }
  static std::string command_line(int number) {
    std::string text = fmt::format(
        "/usr/bin/qemu-system-x86_64 -name guest=vm{0},debug-threads=on -smp 4 -uuid "
        "00000000-0000-4000-8000-{0:012x} ",
        number);
    std::ranges::replace(text, ' ', '\0');
    return text;
  }

  void work(std::int64_t step) override {
    const std::int64_t part = 10 * kMillisecond * step, vm = part * std::ssize(kParts);
    files_.set_cgroup_usage("/machine.slice", vm * kVms);
    for (int i = 0; i < kVms; ++i) {
      const std::string domain = scope(i) + "/libvirt";
      files_.set_cgroup_usage(scope(i), vm);
      files_.set_cgroup_usage(domain, vm);
      for (const char* name : kParts) files_.set_cgroup_usage(domain + "/" + name, part);
      files_.set_process_time(10'000 + i, kTicksPerStep * step * std::ssize(kParts));
    }
  }
};

}  // namespace

std::unique_ptr<Piece> tick_idle() { return std::make_unique<UnitsTick>(0); }
std::unique_ptr<Piece> tick_moved() { return std::make_unique<UnitsTick>(10); }
std::unique_ptr<Piece> tick_vms() { return std::make_unique<VmsTick>(); }
std::unique_ptr<Piece> log_idle() { return std::make_unique<LogOfUnits>(0); }
std::unique_ptr<Piece> log_moved() { return std::make_unique<LogOfUnits>(10); }

}  // namespace keplerd
