// SPDX-License-Identifier: Apache-2.0
#include "usage/usage_reader.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/fake_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

TEST(UsageReader, ReadsTicksGroupsAndProcesses) {
  FakeHost fake;
  fake.set_stat({.user = 5, .idle = 10});
  fake.add_cgroup("/a", 30);
  fake.add_process({.pid = 42, .cgroup = "/a"});
  const auto host = fake.open();
  UsageReader reader(host);
  UsageSample sample;
  ASSERT_TRUE(reader.read(1s, sample));
  EXPECT_EQ(sample.ticks.busy, 5);
  EXPECT_EQ(sample.groups.size(), 1U);
  EXPECT_EQ(sample.processes.size(), 1U);
  EXPECT_FALSE(sample.interrupts_apart);
  EXPECT_EQ(reader.groups_left_out(), 0U);
}

TEST(UsageReader, InterruptsAreSeparateIfTheKernelReportsTheirPressure) {
  FakeHost fake;
  fake.write("proc/pressure/irq", "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
  const auto host = fake.open();
  UsageReader reader(host);
  UsageSample sample;
  ASSERT_TRUE(reader.read(1s, sample));
  EXPECT_TRUE(sample.interrupts_apart);
}

TEST(UsageReader, FailsOnlyWithoutStat) {
  FakeHost fake;
  fake.remove("cgroup/cpu.stat");
  const auto host = fake.open();
  UsageReader reader(host);
  UsageSample sample;
  EXPECT_TRUE(reader.read(1s, sample));
  fake.write("proc/stat", "garbage\n");
  EXPECT_FALSE(reader.read(2s, sample));
  fake.set_stat({.user = 5});
  EXPECT_TRUE(reader.read(3s, sample));
}

TEST(UsageReader, WithoutCgroup2ThereAreProcessesOnly) {
  FakeHost fake;
  fake.add_process({.pid = 42});
  auto paths = fake.paths();
  paths.cgroupfs.reset();
  const auto host = HostRoot::open(paths);
  ASSERT_TRUE(host);
  UsageReader reader(*host);
  UsageSample sample;
  ASSERT_TRUE(reader.read(1s, sample));
  EXPECT_TRUE(sample.groups.empty());
  EXPECT_EQ(sample.processes.size(), 1U);
}

TEST(UsageReader, ReadsThisHost) {
  const auto host = HostRoot::open({});
  ASSERT_TRUE(host);
  UsageReader reader(*host);
  UsageSample sample;
  for (int i = 1; i <= 2; ++i) {
    ASSERT_TRUE(reader.read(i * 1s, sample));
    EXPECT_TRUE(std::ranges::any_of(sample.processes, [](const auto& p) { return p.id.pid == ::getpid(); }) ||
                i > 1);
    for (std::size_t group = 0; group < sample.groups.size(); ++group) {
      EXPECT_TRUE(sample.groups[group].parent == kNoGroup || sample.groups[group].parent < group);
    }
  }
}

}  // namespace
}  // namespace keplerd
