// SPDX-License-Identifier: Apache-2.0
// Every meter combined with every fault that it can have: how many windows of energy are lost, how many are
// reported as discarded, how many lines are logged; and for all of them no spike, no decrease, sums that hold
// (MeterHost checks these), and a meter that continues afterwards. Reasons are in docs/decisions/0002, 0005,
// 0007 and 0009.
#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "daemon/log.h"
#include "daemon/meter_host.h"
#include "support/fake_hwmon.h"
#include "support/fake_perf.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kWindow = 10'000'000;  // microjoules that a zone draws in a second
constexpr std::int64_t kRange = 262'143'328'850;

// How a meter counts, which determines what a fault costs it.
enum class Counts {
  kOn,     // whether it is read or not (powercap, hwmon's energy)
  kOpen,   // while it is open (perf)
  kPower,  // not at all: it reports power
};

struct PowercapFiles {
  const char* directory;
  const char* name;
};

struct MeterKind {
  const char* name;
  Counts counts = Counts::kOn;
  std::vector<PowercapFiles> powercap = {};
  bool wraps = false;
  int zones = 1;   // in the total
  int others = 0;  // others that are read, too
  const char* vendor = "GenuineIntel";
  const char* chip = nullptr;   // of hwmon
  const char* input = nullptr;  // its file
  const char* label = nullptr;
};

const std::array kMeters = {
    MeterKind{.name = "Perf", .counts = Counts::kOpen},
    MeterKind{.name = "Powercap", .powercap = {{"intel-rapl:0", "package-0"}}, .wraps = true},
    MeterKind{.name = "PowercapOfRange0", .powercap = {{"intel-rapl:0", "package-0"}}},
    MeterKind{.name = "PowercapWithAnMmioTwin",
              .powercap = {{"intel-rapl:0", "package-0"}, {"intel-rapl-mmio:0", "package-0"}},
              .wraps = true},
    MeterKind{.name = "PowercapWithATpmiTwin",
              .powercap = {{"intel-rapl:0", "package-0"}, {"intel-rapl:1", "package-0"}},
              .wraps = true},
    MeterKind{.name = "PowercapOfTwoDies",
              .powercap = {{"intel-rapl:0", "package-0-die-0"}, {"intel-rapl:1", "package-0-die-1"}},
              .wraps = true,
              .zones = 2},
    MeterKind{.name = "PowercapOfAmd",
              .powercap = {{"intel-rapl:0", "package-0"}, {"intel-rapl:0:0", "core"}},
              .wraps = true,
              .vendor = "AuthenticAMD"},
    MeterKind{.name = "PowercapWithPsys",
              .powercap = {{"intel-rapl:0", "package-0"}, {"intel-rapl:1", "psys"}},
              .wraps = true,
              .others = 1},
    MeterKind{.name = "ArmScmi", .counts = Counts::kPower, .powercap = {{"arm-scmi:0", "SOC"}}},
    MeterKind{.name = "HwmonEnergy", .chip = "amd_energy", .input = "energy1", .label = "Esocket0"},
    MeterKind{.name = "HwmonPower",
              .counts = Counts::kPower,
              .chip = "apm_xgene",
              .input = "power1",
              .label = "CPU power"},
};

// The host with that meter, which draws 10 W in each zone.
class Rig {
 public:
  Rig(const MeterKind& kind, bool near_its_end) : kind_(kind) {
    if (near_its_end) counter = kRange - 5 * kWindow;
    host.files.remove_powercap_zone("intel-rapl:0");
    host.files.set_cpu_vendor(kind.vendor);
    if (kind.counts == Counts::kOpen) {
      FakePerf::add_pmu(host.files, "0");
      FakePerf::add_cpu(host.files, 0, 0);
      FakePerf::add_event(host.files, "energy-pkg", FakePerf::kPackage);
    }
    repair();
    host.begin({.open_perf_counter = perf_.opener()});
  }

  // This much later; `drawn` is what all zones drew in each second of it.
  const Report& step(Nanoseconds time = 1s) {
    const std::int64_t energy = time / 1ms * kWindow / 1000;
    counter += energy;
    drawn += energy * kind_.zones;
    if (!broken_) show();
    const Report& report = host.step(time);
    if (report.host.power) {
      EXPECT_LE(report.host.power->value, kWindow * kind_.zones) << "a spike";
    }
    EXPECT_LE(report.host.energy.value, drawn) << "more than was drawn";
    return report;
  }

  // Reads fail, though the files exist.
  void fail(const std::string& text = {}) {
    broken_ = true;
    perf_.read_error = EIO;
    for (const std::string& file : files())
      text.empty() ? host.files.break_file(file) : host.files.write(file, text);
  }
  void vanish() {
    broken_ = true;
    perf_.read_error = perf_.open_error = ENODEV;
    for (const auto& [directory, name] : kind_.powercap) host.files.remove_powercap_zone(directory);
    host.files.remove("sys/class/hwmon/hwmon0");
  }
  void repair() {
    broken_ = false;
    perf_.read_error = perf_.open_error = 0;
    for (const auto& [directory, name] : kind_.powercap) {
      FakeZone zone{.dir = directory, .name = name};
      if (!kind_.wraps) zone.range = 0;
      host.files.add_powercap_zone(zone);
    }
    if (kind_.chip != nullptr) {
      const std::string input = kind_.input;
      add_hwmon(host.files, 0, kind_.chip, "platform/a",
                {{input + "_input", "0"}, {input + "_label", kind_.label}});
    }
    show();
  }

  const MeterKind& kind() const { return kind_; }

  MeterHost host;
  std::int64_t counter = 0;  // microjoules, before it wraps
  std::int64_t drawn = 0;    // since the beginning

 private:
  std::vector<std::string> files() const {
    std::vector<std::string> all;
    const char* const file = kind_.counts == Counts::kPower ? "/power_uw" : "/energy_uj";
    for (const auto& [directory, name] : kind_.powercap)
      all.push_back(std::string("sys/class/powercap/") + directory + file);
    if (kind_.chip != nullptr) all.push_back(hwmon_file(0, std::string(kind_.input) + "_input"));
    return all;
  }

  void show() {
    perf_.set_raw(0, FakePerf::kPackage, static_cast<std::uint64_t>(counter / 1'000'000) << 32);
    std::int64_t value = kind_.wraps ? counter % kRange : counter;
    if (kind_.counts == Counts::kPower) value = kWindow;
    for (const std::string& file : files()) host.files.write(file, std::to_string(value) + "\n");
  }

  const MeterKind& kind_;
  FakePerf perf_;
  bool broken_ = false;
};

// Windows (of a second) that are lost, windows of a zone that are discarded, and warning lines; for each way
// of counting, and per zone.
struct Cost {
  int lost = 0, discarded = 0, lines = 0;
};

enum class Whom { kAll, kWrapping, kNotWrapping };

struct Fault {
  const char* name;
  void (*befalls)(Rig&);
  Cost on, open, power;
  Whom befalls_whom = Whom::kAll;
};

void steps(Rig& rig, int count) {
  for (int i = 0; i < count; ++i) rig.step();
}

const std::array kFaults = {
    Fault{"None", [](Rig& rig) { steps(rig, 5); }, {}, {}, {}},
    // A counter that keeps counting recovers all of it with its first good reading; perf's is opened anew.
    Fault{"ReadsThatFail",
          [](Rig& rig) {
            rig.fail();
            steps(rig, 2);
            rig.repair();
          },
          {0, 0, 1},
          {3, 1, 2},
          {0, 0, 1}},
    Fault{"Garbage",
          [](Rig& rig) {
            rig.fail("a lot\n");
            steps(rig, 2);
            rig.repair();
          },
          {0, 0, 1},
          {3, 1, 2},
          {0, 0, 1}},
    Fault{"FailsForAMinute",
          [](Rig& rig) {
            rig.fail();
            steps(rig, 70);
            rig.repair();
          },
          {0, 0, 1},
          {71, 1, 2},
          {71, 1, 2}},
    Fault{"FlapsForAMinute",
          [](Rig& rig) {
            for (int i = 0; i < 25; ++i) {
              rig.fail();
              rig.step();
              rig.repair();
              rig.step();
            }
          },
          {0, 0, 1},
          {50, 1, 2},
          {0, 0, 1}},
    Fault{"VanishesAndComesBack",
          [](Rig& rig) {
            rig.vanish();
            steps(rig, 15);
            rig.repair();
            steps(rig, 12);
          },
          {0, 0, 1},
          {16, 1, 2},
          {0, 0, 1}},
    Fault{"Suspend",
          [](Rig& rig) {
            rig.host.now.boottime += 1h;
            rig.step();
          },
          {1, 1, 1},
          {1, 1, 1},
          {1, 1, 1}},
    Fault{"StalledLoop", [](Rig& rig) { rig.step(30s); }, {}, {}, {}},
    Fault{"AStallOfFiveMinutes", [](Rig& rig) { rig.step(300s); }, {}, {}, {300, 1, 1}, Whom::kNotWrapping},
    // From five windows before the counter's end.
    Fault{"Wrap", [](Rig& rig) { steps(rig, 8); }, {}, {}, {}, Whom::kWrapping},
    Fault{"WrapWhileItCannotBeRead",
          [](Rig& rig) {
            rig.fail();
            steps(rig, 8);
            rig.repair();
          },
          {0, 0, 1},
          {},
          {},
          Whom::kWrapping},
    Fault{"DoubleWrap", [](Rig& rig) { rig.step(600s); }, {600, 1, 1}, {}, {}, Whom::kWrapping},
    Fault{"ClockStep",
          [](Rig& rig) {
            for (const auto jump : {-48h, +96h}) {
              rig.host.now.realtime += jump;
              steps(rig, 2);
            }
          },
          {},
          {},
          {}},
    Fault{"Reset",
          [](Rig& rig) {
            rig.counter = -kWindow;
            rig.step();
          },
          {1, 1, 1},
          {1, 1, 1},
          {}},
    Fault{"Jump",
          [](Rig& rig) {
            rig.counter += 20'000 * kWindow;
            rig.step();
          },
          {1, 1, 1},
          {1, 1, 1},
          {}},
};

struct Case {
  const MeterKind* meter;
  const Fault* fault;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const MeterKind& meter : kMeters) {
    for (const Fault& fault : kFaults) {
      const Whom not_whom = meter.wraps ? Whom::kNotWrapping : Whom::kWrapping;
      if (fault.befalls_whom != not_whom) all.push_back({&meter, &fault});
    }
  }
  return all;
}

class FaultTable : public testing::TestWithParam<Case> {
 protected:
  static Cost cost() {
    const Fault& fault = *GetParam().fault;
    switch (GetParam().meter->counts) {
      case Counts::kOn:
        return fault.on;
      case Counts::kOpen:
        return fault.open;
      case Counts::kPower:
        return fault.power;
    }
    return {};
  }

  static int warnings(const std::string& log) {
    int count = 0;
    for (auto at = log.find("warning"); at != log.npos; at = log.find("warning", at + 1)) ++count;
    return count;
  }
};

TEST_P(FaultTable, CostsWhatTheTableSays) {
  Rig rig(*GetParam().meter, GetParam().fault->befalls_whom == Whom::kWrapping);
  steps(rig, 3);
  open_log(LogLevel::kInfo);
  testing::internal::CaptureStderr();
  GetParam().fault->befalls(rig);
  const auto lost = [&rig] { return rig.drawn - rig.host.meter().report()->host.energy.value; };
  rig.step();
  const std::string log = testing::internal::GetCapturedStderr();
  const std::int64_t after = lost();
  const std::int64_t zones = GetParam().meter->zones;
  const std::int64_t all_zones = zones + GetParam().meter->others;
  EXPECT_EQ(after, cost().lost * kWindow * zones);
  EXPECT_EQ(rig.host.meter().report()->discarded_windows,
            static_cast<std::uint64_t>(cost().discarded * all_zones));
  EXPECT_EQ(warnings(log), cost().lines * all_zones) << log;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(rig.step().host.power->value, kWindow * zones);
    EXPECT_EQ(lost(), after) << "counting goes on";
  }
}

INSTANTIATE_TEST_SUITE_P(Each, FaultTable, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<Case>& one) {
                           return std::string(one.param.meter->name) + one.param.fault->name;
                         });

TEST(Psys, StepsOfAJouleAreNotAFault) {
  MeterHost host;
  host.files.add_powercap_zone({.dir = "intel-rapl:1", .name = "psys"});
  host.begin();
  for (int i = 1; i <= 40; ++i) {
    host.draw(500'000);
    host.files.set_energy("intel-rapl:1", i * 750'000 / 1'000'000 * 1'000'000);
    const Report& report = host.step(100ms);
    EXPECT_EQ(report.discarded_windows, 0u);
    EXPECT_EQ(report.host.power->value, 5'000'000);
    EXPECT_EQ(report.zones.back().zone.id, "powercap:psys:0");
    EXPECT_EQ(report.zones.back().energy.value, i * 750'000 / 1'000'000 * 1'000'000);
  }
}

}  // namespace
}  // namespace keplerd
