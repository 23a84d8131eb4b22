// SPDX-License-Identifier: Apache-2.0
// The PMU `power` of a written host, and counters in place of perf_event_open(2)'s.
#pragma once

#include <cerrno>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "host/perf_counter.h"
#include "support/fake_host.h"

namespace keplerd {

class FakePerf {
 public:
  static constexpr std::uint32_t kType = 29;
  // Events by the kernel's numbers.
  enum Event : std::uint64_t { kCores = 1, kPackage = 2, kDram = 3, kGpu = 4, kPsys = 5 };

  // The PMU without any event yet, on `cpumask`.
  static void add_pmu(FakeHost& host, const std::string& cpumask) {
    host.write(pmu("type"), fmt::format("{}\n", kType));
    host.write(pmu("cpumask"), cpumask + "\n");
    host.write(pmu("format/event"), "config:0-7\n");
  }
  static void add_event(FakeHost& host, const std::string& name, Event event) {
    host.write(pmu("events/" + name), fmt::format("event=0x{:02x}\n", static_cast<std::uint64_t>(event)));
    host.write(pmu("events/" + name + ".scale"), "2.3283064365386962890625e-10\n");
    host.write(pmu("events/" + name + ".unit"), "Joules\n");
  }
  static void add_cpu(FakeHost& host, int cpu, int package, int die = 0) {
    const auto topology = fmt::format("sys/devices/system/cpu/cpu{}/topology/", cpu);
    host.write(topology + "physical_package_id", fmt::format("{}\n", package));
    host.write(topology + "die_id", fmt::format("{}\n", die));
  }
  static std::string pmu(const std::string& file) { return "sys/bus/event_source/devices/power/" + file; }

  // The hardware advances, whether or not anything counts.
  void draw(int cpu, Event event, std::int64_t joules) {
    hardware_[{kType, event, cpu}] += static_cast<std::uint64_t>(joules) << 32;
  }
  void set_raw(int cpu, Event event, std::uint64_t counts) { hardware_[{kType, event, cpu}] = counts; }

  int open_error = 0;      // errno of opening; 0: it works
  int read_error = 0;      // errno of reading
  bool suspended = false;  // events are enabled, but do not run
  std::set<PerfEvent> opened;
  int open_counters = 0;  // now

  OpenPerfCounter opener() {
    return [this](const PerfEvent& event) -> Result<std::unique_ptr<PerfCounter>> {
      if (open_error != 0) return system_error("perf_event_open", open_error);
      opened.insert(event);
      return std::unique_ptr<PerfCounter>(std::make_unique<Counter>(*this, event));
    };
  }

 private:
  class Counter final : public PerfCounter {
   public:
    Counter(FakePerf& perf, const PerfEvent& event)
        : perf_(perf), event_(event), begin_(perf.hardware_[event]) {
      ++perf_.open_counters;
    }
    ~Counter() override { --perf_.open_counters; }
    Result<PerfReading> read() override {
      if (perf_.read_error != 0) return system_error("perf event", perf_.read_error);
      time_.enabled += 1000;
      if (!perf_.suspended) time_.running += 1000;
      time_.count = perf_.hardware_[event_] - begin_;
      return time_;
    }

   private:
    FakePerf& perf_;
    PerfEvent event_;
    std::uint64_t begin_;
    PerfReading time_;
  };

  std::map<PerfEvent, std::uint64_t> hardware_;
};

}  // namespace keplerd
