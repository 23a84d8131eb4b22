// SPDX-License-Identifier: Apache-2.0
#include "attribution/platform/platform.h"

#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace keplerd {
namespace {

using namespace std::chrono_literals;

// A host by numbers: a package with a power over time, and meters of the platform, which is 1.2 times that
// and 50 W.
class Host {
 public:
  struct Meter {
    std::string id;
    Nanoseconds lag{0};     // what it reads was drawn so long ago, and it does not know
    Nanoseconds behind{0};  // likewise, and it says so
    double factor = 1;      // its error
    bool answers = true;
  };

  explicit Host(std::vector<Meter> all, std::function<double(double)> load = steps)
      : meters(std::move(all)), watts_(std::move(load)) {
    zones_.push_back({.id = "powercap:package:0", .name = "package", .in_total = true});
    for (const Meter& meter : meters) {
      const bool is_psys = meter.id.starts_with("powercap:psys");
      zones_.push_back({.id = meter.id,
                        .name = is_psys ? "psys" : "platform",
                        .resource = is_psys ? Resource::kCpu : Resource::kNone});
    }
  }

  // A load that comes and goes, each time for another span.
  static double steps(double t) { return std::fmod(t * t / 40, 17) < 8 ? 20 : 90; }

  // Samples once a second.
  const std::optional<PlatformState>& run(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      now_ += 1s;
      boot_ += 1s;
      sample(StepVerdict::kCounted);
      if (state && state->rest_power) ++windows_with_rest, negative += *state->rest_power < Microwatts{};
      if (state) rest += state->rest;
    }
    return state;
  }

  // Suspends it for so long; the sample after it.
  void suspend(Nanoseconds time) {
    boot_ += time;
    now_ += 1s;
    boot_ += 1s;
    sample(StepVerdict::kSuspended);
  }

  double package_watts() const { return watts_(seconds(boot_) - 0.5); }

  std::vector<Meter> meters;
  Platform platform;
  std::optional<PlatformState> state;
  Microjoules rest, metered, parts;  // since the beginning: rest, the first meter, the package
  int windows_with_rest = 0, negative = 0;

 private:
  static double seconds(Nanoseconds time) { return std::chrono::duration<double>(time).count(); }

  Microjoules energy(Nanoseconds until, double slope, double offset) const {
    return {std::llround(1e6 * (offset + slope * watts_(seconds(until) - 0.5)))};
  }

  void sample(StepVerdict verdict) {
    std::vector<ZoneAttribution> energies(zones_.size());
    std::vector<Result<Microjoules>> readings(zones_.size(), Microjoules{});
    std::vector<std::optional<ReadingAge>> ages(zones_.size());
    const bool counted = verdict == StepVerdict::kCounted;
    for (std::size_t i = 0; i < zones_.size(); ++i) {
      ZoneAttribution& zone = energies[i];
      zone.verdict = verdict;
      zone.read = counted && !is_first_;
      zone.span = 1s;
      if (i == 0) {
        if (zone.read) zone.energy = energy(boot_, 1, 0);
        parts += zone.energy;
        continue;
      }
      const Meter& meter = meters[i - 1];
      if (meter.behind > 0s) ages[i] = ReadingAge{meter.behind, meter.behind};
      if (!meter.answers) {
        readings[i] = Error{.message = "away"};
        zone.read = false;
        zone.verdict = StepVerdict::kCounted;
        missed_.at(i - 1) = true;
      } else if (zone.read && std::exchange(missed_.at(i - 1), false)) {
        zone.read = false;  // as after the restart of an integral
        zone.verdict = StepVerdict::kReset;
      } else if (zone.read) {
        const Microjoules all = energy(boot_ - meter.lag - meter.behind, 1.2, 50);
        zone.energy = {std::llround(static_cast<double>(all.value) * meter.factor)};
        if (i == 1) metered += zone.energy;
      }
    }
    is_first_ = false;
    state = platform.update({zones_, energies, readings, ages, {now_, boot_, {}}});
  }

  std::function<double(double)> watts_;
  std::vector<Zone> zones_;
  std::array<bool, 8> missed_{};
  Nanoseconds now_ = 1000s, boot_ = 1000s;
  bool is_first_ = true;
};

TEST(Platform, IsAbsentWithoutAMeter) {
  Host host({});
  EXPECT_EQ(host.run(10), std::nullopt);
}

TEST(Platform, RestIsWhatThePartsDoNotDraw) {
  Host host({{.id = "acpi:platform:0"}});
  host.run(200);
  ASSERT_TRUE(host.state && host.state->rest_power);
  EXPECT_NEAR(static_cast<double>(host.state->rest_power->value) / 1e6, 50 + 0.2 * host.package_watts(),
              0.01);
  EXPECT_EQ(host.rest, host.metered - host.parts) << "exactly";
}

// Without the correction, the platform of a host whose load has just begun is below its package.
TEST(Platform, AServerThatLagsBehindIsCorrected) {
  Host host({{.id = "ipmi:platform:0", .lag = 4s, .factor = 0.7}});
  host.run(300);
  EXPECT_GT(host.negative, 20) << "the lag is not known yet";
  EXPECT_EQ(host.state->lag, Nanoseconds(4s));
  host.negative = 0;
  host.run(300);
  EXPECT_EQ(host.negative, 0);
  EXPECT_EQ(host.state->contradiction, std::nullopt);
}

TEST(Platform, TheTimeOfAMetersReadingCountsWithoutLearning) {
  Host host({{.id = "ipmi:platform:0", .behind = 7s}});
  host.run(60);
  EXPECT_GT(host.windows_with_rest, 40);
  EXPECT_EQ(host.negative, 0);
  ASSERT_TRUE(host.state->rest_power);
  const double rest = static_cast<double>(host.state->rest_power->value) / 1e6;
  EXPECT_TRUE(std::abs(rest - 54) < 0.01 || std::abs(rest - 68) < 0.01) << rest;
}

// The counter never goes back: what was too little is made up for.
TEST(Platform, RestCarriesADeficit) {
  Host host({{.id = "ipmi:platform:0", .lag = 4s, .factor = 0.7}});
  Microjoules sum;
  for (int i = 0; i < 600; ++i) {
    host.run(1);
    EXPECT_GE(host.state->rest, Microjoules{});
  }
  const Microjoules difference = host.metered - host.parts;
  EXPECT_LE(std::abs(host.rest.value - difference.value), 5 * 90'000'000) << "but for what is still to come";
}

TEST(Platform, AContradictionIsReported) {
  Host host({{.id = "acpi:platform:0", .factor = 0.3}});
  host.run(1200);
  ASSERT_TRUE(host.state->contradiction);
  EXPECT_LT(host.state->contradiction->platform, host.state->contradiction->parts);
}

TEST(Platform, AMeterThatFallsSilentIsReplacedAfterAMinute) {
  Host host({{.id = "ipmi:platform:0"}, {.id = "acpi:platform:0"}});
  host.run(10);
  EXPECT_EQ(host.state->zone, 1U);
  host.meters[0].answers = false;
  host.run(50);
  EXPECT_EQ(host.state->zone, 1U);
  EXPECT_EQ(host.state->power, std::nullopt) << "not the last known";
  EXPECT_EQ(host.state->rest_power, std::nullopt);
  host.run(20);
  EXPECT_EQ(host.state->zone, 2U);
  host.meters[0].answers = true;
  host.run(3);
  EXPECT_EQ(host.state->zone, 1U) << "the better one is back";
}

// On mains, on battery, suspended, on battery, on mains.
TEST(Platform, ALaptopsDay) {
  Host host({{.id = "battery:platform:0", .answers = false}, {.id = "powercap:psys:0", .factor = 0.9}});
  host.run(30);
  EXPECT_EQ(host.state->zone, 1U) << "psys is on trial";
  EXPECT_EQ(host.state->power, std::nullopt);
  host.run(60);
  EXPECT_EQ(host.state->zone, 2U);
  EXPECT_TRUE(host.state->rest_power);

  host.meters[0].answers = true;
  host.run(5);
  EXPECT_EQ(host.state->zone, 1U) << "the battery covers all";
  const Microjoules before = host.rest;
  host.suspend(8h);
  EXPECT_EQ(host.state->rest, Microjoules{}) << "nothing is invented for the night";
  EXPECT_EQ(host.state->power, std::nullopt);
  host.run(20);
  EXPECT_NEAR(static_cast<double>((host.rest - before).value) / 1e6, 20 * 60, 300);
  EXPECT_EQ(host.negative, 0);

  host.meters[0].answers = false;
  host.run(90);
  EXPECT_EQ(host.state->zone, 2U);
  EXPECT_TRUE(host.state->rest_power);
}

TEST(Platform, APsysThatCountsLessThanItsPartsIsNotUsed) {
  Host host({{.id = "powercap:psys:0", .factor = 0.2}});
  EXPECT_EQ(host.run(600), std::nullopt);
}

TEST(Platform, IsCalibratedByALoadThatVaries) {
  Host host({{.id = "ipmi:platform:0", .lag = 3s}},
            [](double t) { return 30 + 10 * std::fmod(std::floor(t / 25), 7); });
  host.run(200);
  EXPECT_EQ(host.state->wall, std::nullopt);
  host.run(1000);
  ASSERT_TRUE(host.state->wall);
  EXPECT_NEAR(host.state->wall->slope, 1.2, 0.02);
  EXPECT_NEAR(static_cast<double>(host.state->wall->offset.value) / 1e6, 50, 1);
  ASSERT_TRUE(host.state->wall_power);
  EXPECT_NEAR(static_cast<double>(host.state->wall_power->value) / 1e6, 50 + 1.2 * host.package_watts(), 1.5);
}

TEST(Platform, WhatWasLearnedIsRestored) {
  Host host({{.id = "ipmi:platform:0", .lag = 3s}},
            [](double t) { return 30 + 10 * std::fmod(std::floor(t / 25), 7); });
  host.run(1200);
  Host other({{.id = "ipmi:platform:0", .lag = 3s}});
  other.platform.restore(host.platform.save());
  other.run(3);
  EXPECT_EQ(other.state->lag, host.state->lag);
  EXPECT_EQ(other.state->wall, host.state->wall);
}

}  // namespace
}  // namespace keplerd
