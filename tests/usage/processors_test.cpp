// SPDX-License-Identifier: Apache-2.0
#include "usage/processors.h"

#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/fake_host.h"

namespace keplerd {
namespace {

struct Place {
  int package = 0, die = 0;
  std::string siblings;
};

void add_cpu(FakeHost& fake, int cpu, const Place& place) {
  const auto topology = fmt::format("sys/devices/system/cpu/cpu{}/topology/", cpu);
  fake.write(topology + "physical_package_id", fmt::format("{}\n", place.package));
  fake.write(topology + "die_id", fmt::format("{}\n", place.die));
  fake.write(topology + "core_cpus_list", place.siblings + "\n");
}

void set_khz(FakeHost& fake, int cpu, int khz) {
  fake.write(fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", cpu),
             fmt::format("{}\n", khz));
}

// Lines of /proc/stat: what each CPU was busy and idle.
std::string stat_of(const std::vector<std::pair<int, int>>& ticks) {
  std::string stat = "cpu  0 0 0 0\n";
  for (std::size_t cpu = 0; cpu < ticks.size(); ++cpu)
    stat += fmt::format("cpu{} {} 0 0 {}\n", cpu, ticks[cpu].first, ticks[cpu].second);
  return stat;
}

struct ProcessorsTest : ::testing::Test {
  FakeHost fake;
  HostRoot host = fake.open();
  DescriptorBudget budget;
  Processors processors{host, budget};
  std::vector<CpuUsage> cpus;
};

TEST_F(ProcessorsTest, WhatACpuDidIsKnownFromTheSecondReadOn) {
  processors.read(stat_of({{10, 90}, {20, 80}}), cpus);
  ASSERT_EQ(cpus.size(), 2U);
  EXPECT_EQ(cpus[0].total, 0);
  processors.read(stat_of({{40, 160}, {20, 180}}), cpus);
  EXPECT_EQ(cpus[0].busy, 30);
  EXPECT_EQ(cpus[0].total, 100);
  EXPECT_EQ(cpus[1].busy, 0);
  EXPECT_EQ(cpus[1].total, 100);
}

TEST_F(ProcessorsTest, TicksThatGoBackAreNone) {
  processors.read(stat_of({{10, 90}}), cpus);
  processors.read(stat_of({{5, 80}}), cpus);
  EXPECT_EQ(cpus[0].busy, 0);
  EXPECT_EQ(cpus[0].total, 0);
}

TEST_F(ProcessorsTest, ADieIsAPackageIfEachHasOne) {
  add_cpu(fake, 0, {.package = 1, .die = 0, .siblings = "0"});
  add_cpu(fake, 1, {.package = 3, .die = 0, .siblings = "1"});
  processors.read(stat_of({{0, 0}, {0, 0}}), cpus);
  EXPECT_EQ(cpus[0].die, 1) << "as its zone has it";
  EXPECT_EQ(cpus[1].die, 3);
}

TEST_F(ProcessorsTest, OfAmdAPackageHasOneMeterWhateverDiesThereAre) {
  for (const char* const vendor : {"AuthenticAMD", "HygonGenuine"}) {
    fake.set_cpu_vendor(vendor);
    for (int cpu = 0; cpu < 4; ++cpu)
      add_cpu(fake, cpu, {.package = cpu / 2, .die = cpu, .siblings = std::to_string(cpu)});
    Processors amd{host, budget};
    amd.read(stat_of({{0, 0}, {0, 0}, {0, 0}, {0, 0}}), cpus);
    for (const CpuUsage& cpu : cpus) EXPECT_EQ(cpu.die, cpu.package) << cpu.number;
  }
}

TEST_F(ProcessorsTest, DiesAreNumberedAcrossPackagesAndSiblingsShareACore) {
  add_cpu(fake, 0, {.package = 0, .die = 0, .siblings = "0,2"});
  add_cpu(fake, 1, {.package = 0, .die = 4, .siblings = "1"});
  add_cpu(fake, 2, {.package = 0, .die = 0, .siblings = "0,2"});
  add_cpu(fake, 3, {.package = 3, .die = 0, .siblings = "3"});
  processors.read(stat_of({{0, 0}, {0, 0}, {0, 0}, {0, 0}}), cpus);
  EXPECT_EQ(cpus[0].die, 0);
  EXPECT_EQ(cpus[1].die, 1);
  EXPECT_EQ(cpus[2].die, 0);
  EXPECT_EQ(cpus[3].die, 2);
  EXPECT_EQ(cpus[3].package, 3);
  EXPECT_EQ(cpus[0].core, cpus[2].core);
  EXPECT_NE(cpus[0].core, cpus[1].core);
}

TEST_F(ProcessorsTest, OldKernelsNameSiblingsOtherwise) {
  fake.write("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-1\n");
  fake.write("sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "0-1\n");
  processors.read(stat_of({{0, 0}, {0, 0}}), cpus);
  EXPECT_EQ(cpus[0].core, cpus[1].core);
}

TEST_F(ProcessorsTest, ACpuThatGoesOfflineIsLeftOutAndComesBackUnknown) {
  processors.read("cpu 0 0 0 0\ncpu0 1 0 0 1\ncpu1 1 0 0 1\n", cpus);
  processors.read("cpu 0 0 0 0\ncpu0 2 0 0 2\n", cpus);
  ASSERT_EQ(cpus.size(), 1U);
  EXPECT_EQ(cpus[0].busy, 1);
  processors.read("cpu 0 0 0 0\ncpu0 3 0 0 3\ncpu1 9 0 0 9\n", cpus);
  ASSERT_EQ(cpus.size(), 2U);
  EXPECT_EQ(cpus[0].total, 2);
  EXPECT_EQ(cpus[1].total, 0);
}

TEST_F(ProcessorsTest, OnlyTheFrequencyOfBusyCpusIsRead) {
  for (const int cpu : {0, 1}) set_khz(fake, cpu, 2'000'000 + cpu);
  processors.read(stat_of({{0, 0}, {0, 0}}), cpus);
  processors.read(stat_of({{6, 94}, {5, 95}}), cpus);
  EXPECT_EQ(cpus[0].khz, 2'000'000);
  EXPECT_EQ(cpus[1].khz, 0);
}

TEST_F(ProcessorsTest, EightFrequenciesOfAPackageAreReadInTurn) {
  for (int cpu = 0; cpu < 20; ++cpu) set_khz(fake, cpu, 1'000'000 + cpu);
  processors.read(stat_of(std::vector<std::pair<int, int>>(20, {0, 0})), cpus);
  std::set<std::int64_t> read;
  for (int window = 1; window <= 3; ++window) {
    processors.read(stat_of(std::vector<std::pair<int, int>>(20, {window * 100, 0})), cpus);
    std::size_t now = 0;
    for (const CpuUsage& cpu : cpus) {
      if (cpu.khz == 0) continue;
      read.insert(cpu.khz);
      ++now;
    }
    EXPECT_EQ(now, 8U);
  }
  EXPECT_EQ(read.size(), 20U);
}

TEST_F(ProcessorsTest, AFrequencyThatIsNoNumberIsNotRead) {
  fake.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "<unknown>\n");
  processors.read(stat_of({{0, 0}}), cpus);
  processors.read(stat_of({{50, 50}}), cpus);
  EXPECT_EQ(cpus[0].khz, 0);
}

TEST_F(ProcessorsTest, WithoutLinesOfSingleCpusSysfsListsThem) {
  fake.write("sys/devices/system/cpu/online", "0-2,5\n");
  processors.read("cpu 1 0 0 1\n", cpus);
  ASSERT_EQ(cpus.size(), 4U);
  EXPECT_EQ(cpus[3].number, 5);
  EXPECT_EQ(cpus[3].total, 0);
}

}  // namespace
}  // namespace keplerd
