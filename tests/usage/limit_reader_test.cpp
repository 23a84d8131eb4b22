// SPDX-License-Identifier: Apache-2.0
#include "usage/limit_reader.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "support/fake_host.h"
#include "usage/usage_reader.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

// Two CPUs and 16 GiB.
struct LimitReaderTest : ::testing::Test {
  LimitReaderTest() {
    fake.write("proc/stat", "cpu 0 0 0 0\ncpu0 0 0 0 0\ncpu3 0 0 0 0\nintr 0\n");
    fake.write("proc/meminfo", "MemTotal:       16777216 kB\nMemFree:        1 kB\n");
    reader.read_limits(true);
  }

  void limit(const std::string& group, const char* cpu, const char* memory) {
    fake.write("cgroup" + group + "/cpu.max", std::string(cpu) + "\n");
    fake.write("cgroup" + group + "/memory.max", std::string(memory) + "\n");
  }

  const GroupLimits& read_at(Nanoseconds now, const std::string& path) {
    EXPECT_TRUE(reader.read(now, sample));
    EXPECT_EQ(sample.limits.size(), sample.groups.size());
    for (std::size_t i = 0; i < sample.groups.size(); ++i)
      if (sample.groups[i].path == path) return sample.limits.at(i);
    ADD_FAILURE() << "no " << path;
    static const GroupLimits kNone;
    return kNone;
  }

  FakeHost fake;
  HostRoot host = fake.open();
  UsageReader reader{host};
  UsageSample sample;
};

TEST_F(LimitReaderTest, ReadsThoseOfAGroupAndOfTheHost) {
  fake.add_cgroup("/a/b");
  limit("/a", "max 100000", "max");
  limit("/a/b", "150000 100000", "4294967296");
  EXPECT_EQ(read_at(1s, "/a/b"), (GroupLimits{.cpu_time = 1500ms, .memory = 4 * kGiB, .vcpus = {}}));
  EXPECT_EQ(read_at(2s, "/a"), GroupLimits());
  EXPECT_EQ(sample.host.cpus, 2);
  EXPECT_EQ(sample.host.memory, 16 * kGiB);
}

TEST_F(LimitReaderTest, AControllerThatIsNotEnabledLimitsNothing) {
  fake.add_cgroup("/a");
  EXPECT_EQ(read_at(1s, "/a"), GroupLimits());
}

TEST_F(LimitReaderTest, FollowsThoseThatChangeSeldom) {
  fake.add_cgroup("/a");
  limit("/a", "max 100000", "1");
  EXPECT_EQ(read_at(1s, "/a").memory, 1);
  limit("/a", "max 100000", "2");
  EXPECT_EQ(read_at(10s, "/a").memory, 1) << "not read yet";
  EXPECT_EQ(read_at(11s, "/a").memory, 2) << "systemd sets limits after it has created a group";
  limit("/a", "max 100000", "3");
  EXPECT_EQ(read_at(70s, "/a").memory, 2);
  EXPECT_EQ(read_at(71s, "/a").memory, 3);
}

TEST_F(LimitReaderTest, OfAGroupCreatedAgainIsRead) {
  fake.add_cgroup("/a");
  limit("/a", "max 100000", "1");
  read_at(1s, "/a");
  fake.remove_cgroup("/a");
  fake.add_cgroup("/a");
  limit("/a", "max 100000", "2");
  EXPECT_EQ(read_at(2s, "/a").memory, 2);
}

TEST_F(LimitReaderTest, ReadsOnlySoManyInASample) {
  for (int i = 0; i < 600; ++i) {
    const std::string group = fmt::format("/group{:03}", i);
    fake.add_cgroup(group);
    limit(group, "max 100000", "1");
  }
  const auto known = [&](Nanoseconds now) {
    read_at(now, "/group000");
    return std::ranges::count(sample.limits, std::optional<std::int64_t>(1), &GroupLimits::memory);
  };
  EXPECT_EQ(known(1s), 256);
  EXPECT_EQ(known(2s), 512);
  EXPECT_EQ(known(3s), 600);
}

TEST_F(LimitReaderTest, UsersGroupsDoNotDelayOthers) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  fake.add_cgroup("/a.slice");
  fake.set_cgroup_owner("/a.slice", 1000);
  for (int i = 0; i < 1000; ++i) fake.add_cgroup(fmt::format("/a.slice/group{}", i));
  fake.add_cgroup("/z.slice");
  limit("/z.slice", "max 100000", "1");
  EXPECT_EQ(read_at(1s, "/z.slice").memory, 1);
}

TEST_F(LimitReaderTest, ReadsNothingUnlessRequested) {
  fake.add_cgroup("/a");
  limit("/a", "100000 100000", "1");
  reader.read_limits(false);
  ASSERT_TRUE(reader.read(1s, sample));
  EXPECT_TRUE(sample.limits.empty());
  EXPECT_EQ(sample.host.cpus, 0);
  EXPECT_EQ(sample.host.memory, 0);
}

TEST(TotalMemory, IsInBytes) {
  EXPECT_EQ(*parse_total_memory("MemTotal:        1024 kB\nMemFree: 1 kB\n"), 1 << 20);
  EXPECT_EQ(*parse_total_memory("Other: 1 kB\nMemTotal: 1 kB"), 1024);
  for (const char* text : {"", "MemTotal:\n", "MemTotal: x kB\n", "MemTotal: 0 kB", "MemTotal: 1 MB",
                           "MemTotal: -1 kB", "MemTotal: 9223372036854775807 kB", "MemFree: 1 kB"}) {
    EXPECT_FALSE(parse_total_memory(text)) << text;
  }
}

}  // namespace
}  // namespace keplerd
