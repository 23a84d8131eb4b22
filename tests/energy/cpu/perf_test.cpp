// SPDX-License-Identifier: Apache-2.0
#include "energy/cpu/perf.h"

#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include "host/perf_counter.h"
#include "support/fake_host.h"
#include "support/fake_perf.h"
#include "support/source_readings.h"

namespace keplerd {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

// "ID", with a plus sign if the zone is in the total.
std::vector<std::string> reported(const EnergySource& source) {
  std::vector<std::string> texts;
  for (const auto& zone : source.zones()) texts.push_back((zone.in_total ? "+" : "") + zone.id);
  return texts;
}

class PerfTest : public ::testing::Test {
 protected:
  // Two packages with DRAM.
  void add_server() {
    FakePerf::add_pmu(host_, "0,24");
    FakePerf::add_event(host_, "energy-pkg", FakePerf::kPackage);
    FakePerf::add_event(host_, "energy-ram", FakePerf::kDram);
    FakePerf::add_cpu(host_, 0, 0);
    FakePerf::add_cpu(host_, 24, 1);
  }

  Result<std::unique_ptr<EnergySource>> try_open(const std::vector<std::string>& names = {}) {
    return open_perf(host_.open(), names, perf_.opener());
  }
  std::unique_ptr<EnergySource> open(const std::vector<std::string>& names = {}) {
    auto source = try_open(names);
    if (!source) ADD_FAILURE() << source.error().message;
    return source ? *std::move(source) : nullptr;
  }

  FakeHost host_;
  FakePerf perf_;
};

TEST_F(PerfTest, CountsEachEventOnEachCpuOfTheMask) {
  add_server();
  const auto source = open();
  EXPECT_EQ(source->name(), "perf");
  EXPECT_THAT(reported(*source),
              ElementsAre("+perf:package:0", "+perf:package:1", "+perf:dram:0", "+perf:dram:1"));
  EXPECT_THAT(perf_.opened, ElementsAre(PerfEvent{29, 2, 0}, PerfEvent{29, 2, 24}, PerfEvent{29, 3, 0},
                                        PerfEvent{29, 3, 24}));
  perf_.draw(0, FakePerf::kPackage, 11);
  perf_.draw(24, FakePerf::kPackage, 7);
  perf_.draw(24, FakePerf::kDram, 3);
  EXPECT_THAT(read_all(*source), ElementsAre(11'000'000, 7'000'000, 0, 3'000'000));
  for (const auto& zone : source->zones()) {
    EXPECT_EQ(zone.quality, Quality::kMeasured);
    EXPECT_EQ(zone.range, Microjoules{0}) << "64 bits do not wrap";
    EXPECT_TRUE(zone.begins_anew);
  }
}

TEST_F(PerfTest, MemoryIsAResourceOfItsOwn) {
  add_server();
  const auto source = open();
  std::vector<Resource> resources;
  for (const auto& zone : source->zones()) resources.push_back(zone.resource);
  EXPECT_THAT(resources, ElementsAre(Resource::kCpu, Resource::kCpu, Resource::kDram, Resource::kDram));
}

TEST_F(PerfTest, BeginsAtNothingWhateverTheHardwareHasCounted) {
  add_server();
  perf_.draw(0, FakePerf::kPackage, 262'000);
  EXPECT_THAT(read_all(*open({"package"})), ElementsAre(0, 0));
}

TEST_F(PerfTest, OfAClientHasCoresGraphicsAndPlatformOutsideTheTotal) {
  FakePerf::add_pmu(host_, "0");
  FakePerf::add_event(host_, "energy-cores", FakePerf::kCores);
  FakePerf::add_event(host_, "energy-pkg", FakePerf::kPackage);
  FakePerf::add_event(host_, "energy-gpu", FakePerf::kGpu);
  FakePerf::add_event(host_, "energy-psys", FakePerf::kPsys);
  FakePerf::add_cpu(host_, 0, 0);
  EXPECT_THAT(reported(*open()),
              ElementsAre("+perf:package:0", "perf:core:0", "perf:uncore:0", "perf:psys:0"));
}

TEST_F(PerfTest, NumbersDiesOverAllPackages) {
  FakePerf::add_pmu(host_, "0,24,48,72");
  FakePerf::add_event(host_, "energy-pkg", FakePerf::kPackage);
  FakePerf::add_cpu(host_, 0, 0, 0);
  FakePerf::add_cpu(host_, 24, 0, 1);
  FakePerf::add_cpu(host_, 48, 1, 0);
  FakePerf::add_cpu(host_, 72, 1, 1);
  EXPECT_THAT(reported(*open()),
              ElementsAre("+perf:package:0", "+perf:package:1", "+perf:package:2", "+perf:package:3"));
}

TEST_F(PerfTest, CountsAPackageOnceWhereTheMaskNamesItTwice) {
  FakePerf::add_pmu(host_, "0-1");
  FakePerf::add_event(host_, "energy-pkg", FakePerf::kPackage);
  FakePerf::add_cpu(host_, 0, 0);
  FakePerf::add_cpu(host_, 1, 0);
  EXPECT_THAT(reported(*open()), ElementsAre("+perf:package:0"));
}

TEST_F(PerfTest, OfAmdIsModelledAndHasNoCores) {
  host_.set_cpu_vendor("AuthenticAMD");
  FakePerf::add_pmu(host_, "0");
  FakePerf::add_event(host_, "energy-pkg", FakePerf::kPackage);
  FakePerf::add_event(host_, "energy-cores", FakePerf::kCores);
  FakePerf::add_cpu(host_, 0, 0);
  const auto source = open();
  EXPECT_THAT(reported(*source), ElementsAre("+perf:package:0"));
  EXPECT_EQ(source->zones()[0].quality, Quality::kModelled);
}

TEST_F(PerfTest, OfAmdCountsAPackageOnceThoughTheMaskNamesEachOfItsDies) {
  host_.set_cpu_vendor("AuthenticAMD");
  FakePerf::add_pmu(host_, "0,8,16,24");
  FakePerf::add_event(host_, "energy-pkg", FakePerf::kPackage);
  for (const int cpu : {0, 8, 16, 24}) FakePerf::add_cpu(host_, cpu, cpu / 16, cpu / 8);
  EXPECT_THAT(reported(*open()), ElementsAre("+perf:package:0", "+perf:package:1"));
}

TEST_F(PerfTest, IsAbsentWithoutThePmuOrWithoutEvents) {
  auto source = try_open();
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code, ENOENT);
  EXPECT_THAT(source.error().message,
              EndsWith("sys/bus/event_source/devices/power/cpumask: No such file or directory"));
  FakePerf::add_pmu(host_, "0");
  FakePerf::add_cpu(host_, 0, 0);
  source = try_open();
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code, ENOENT);
  EXPECT_THAT(source.error().message, EndsWith("devices/power: has no energy events"));
}

TEST_F(PerfTest, PassesOverAnEventThatItDoesNotUnderstand) {
  add_server();
  host_.write(FakePerf::pmu("events/energy-ram.unit"), "Bananas\n");
  host_.write(FakePerf::pmu("events/energy-gpu"), "event=0x04,umask=0x01\n");
  EXPECT_THAT(reported(*open()), ElementsAre("+perf:package:0", "+perf:package:1"));
}

TEST_F(PerfTest, WithoutPermissionSaysSoAndWhatHelps) {
  add_server();
  perf_.open_error = EACCES;
  const auto source = try_open();
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().message, "perf:package:0: perf_event_open: Permission denied");
  EXPECT_THAT(perf_fix(host_.open(), source.error()), HasSubstr("drop-ins/perf.conf"));
  EXPECT_EQ(perf_.open_counters, 0);
}

TEST_F(PerfTest, WhereTheKernelReservesEventsForRootTheFixIsItsSetting) {
  add_server();
  constexpr const char* kSetting = "kernel.perf_event_paranoid=2";
  host_.write("proc/sys/kernel/perf_event_paranoid", "3\n");
  const auto fix = [this](int code) { return perf_fix(host_.open(), Error{.message = "", .code = code}); };
  EXPECT_THAT(fix(EACCES), AllOf(HasSubstr(kSetting), Not(HasSubstr("drop-ins"))))
      << "keplerd has CAP_PERFMON, or the call failed earlier";
  EXPECT_THAT(fix(EPERM), AllOf(HasSubstr(kSetting), HasSubstr("drop-ins/perf.conf")))
      << "refused by the filter of the unit";
  host_.write("proc/sys/kernel/perf_event_paranoid", "2\n");
  EXPECT_THAT(fix(EACCES), AllOf(HasSubstr("drop-ins/perf.conf"), Not(HasSubstr(kSetting))));
  EXPECT_THAT(fix(EPERM), AllOf(HasSubstr("drop-ins/perf.conf"), Not(HasSubstr(kSetting))));
}

TEST_F(PerfTest, OfAnotherSysfsIsNotThisKernels) {
  add_server();
  const auto source = open_perf(host_.open(), {});
  ASSERT_FALSE(source);
  EXPECT_THAT(source.error().message, EndsWith("is not of this kernel"));
}

TEST_F(PerfTest, ZoneThatCannotBeReadIsOpenedAnewAndBeginsAtNothing) {
  add_server();
  const auto source = open({"package"});
  perf_.draw(0, FakePerf::kPackage, 5);
  EXPECT_THAT(read_all(*source), ElementsAre(5'000'000, 0));
  perf_.read_error = EIO;
  EXPECT_THAT(read_all(*source), ElementsAre(-1, -1));
  EXPECT_EQ(perf_.open_counters, 0);
  perf_.open_error = EPERM;
  EXPECT_THAT(read_all(*source), ElementsAre(-1, -1));
  perf_.read_error = perf_.open_error = 0;
  perf_.draw(0, FakePerf::kPackage, 50);
  EXPECT_THAT(read_all(*source), ElementsAre(0, 0)) << "a reset, which is judged as one";
  perf_.draw(0, FakePerf::kPackage, 2);
  EXPECT_THAT(read_all(*source), ElementsAre(2'000'000, 0));
}

TEST_F(PerfTest, EventThatIsNotCountedIsAnErrorAndNoZero) {
  add_server();
  const auto source = open({"package"});
  EXPECT_THAT(read_all(*source), ElementsAre(0, 0));
  perf_.suspended = true;
  EXPECT_THAT(read_all(*source), ElementsAre(-1, -1));
  perf_.suspended = false;
  EXPECT_THAT(read_all(*source), ElementsAre(0, 0));
}

TEST_F(PerfTest, FollowsThePackageToAnotherCpu) {
  add_server();
  const auto source = open({"package"});
  perf_.draw(24, FakePerf::kPackage, 9);
  EXPECT_THAT(read_all(*source), ElementsAre(0, 9'000'000));
  FakePerf::add_cpu(host_, 25, 1);
  host_.write(FakePerf::pmu("cpumask"), "0,25\n");
  perf_.draw(25, FakePerf::kPackage, 100);
  EXPECT_THAT(read_all(*source), ElementsAre(0, 0));
  perf_.draw(25, FakePerf::kPackage, 1);
  EXPECT_THAT(read_all(*source), ElementsAre(0, 1'000'000));
  EXPECT_EQ(perf_.open_counters, 2);
}

TEST_F(PerfTest, PackageThatGoesOfflineIsAnErrorUntilItIsBack) {
  add_server();
  const auto source = open({"package"});
  host_.write(FakePerf::pmu("cpumask"), "0\n");
  EXPECT_THAT(read_all(*source), ElementsAre(0, -1));
  host_.write(FakePerf::pmu("cpumask"), "0,24\n");
  EXPECT_THAT(read_all(*source), ElementsAre(0, 0));
}

TEST_F(PerfTest, ANegativeCountIsNotEnergy) {
  // The kernel handles a hardware reset as a step back by up to 2^31 units.
  add_server();
  const auto source = open({"package"});
  perf_.set_raw(0, FakePerf::kPackage, std::uint64_t{0} - (std::uint64_t{1} << 40));
  const auto readings = read_all(*source);
  EXPECT_GT(readings[0], 4'000'000'000'000'000) << "a jump that no machine makes: it is not counted";
}

TEST(KernelCounter, CountsARealEvent) {
  // A software event of one CPU: needs CAP_PERFMON, or perf_event_paranoid below 1.
  auto counter = open_perf_counter({PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0});
  if (!counter) GTEST_SKIP() << counter.error().message;
  const auto first = (*counter)->read();
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_GT(first->enabled, 0U);
  auto second = (*counter)->read();
  while (second && second->count <= first->count) second = (*counter)->read();
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_GT(second->enabled, first->enabled);
  EXPECT_GT(second->running, first->running);
}

TEST(KernelCounter, ReportsWhyItCannotBeOpened) {
  const auto counter = open_perf_counter({0xffff, 1, 0});  // no such PMU
  ASSERT_FALSE(counter);
  EXPECT_THAT(counter.error().message, HasSubstr("perf_event_open: "));
  EXPECT_NE(counter.error().code, 0);
}

}  // namespace
}  // namespace keplerd
