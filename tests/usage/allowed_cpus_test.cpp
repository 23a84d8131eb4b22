// SPDX-License-Identifier: Apache-2.0
#include "usage/allowed_cpus.h"

#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "support/fake_host.h"
#include "usage/usage_reader.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

std::string status_of(std::string_view cpus) {
  return fmt::format("Name:\ttask\nThreads:\t1\nCpus_allowed:\tff\nCpus_allowed_list:\t{}\n", cpus);
}

// Four CPUs, and groups that have always used some more.
struct AllowedCpusTest : ::testing::Test {
  AllowedCpusTest() {
    fake.write("proc/stat", "cpu 0 0 0 0\ncpu0 0 0 0 0\ncpu1 0 0 0 0\ncpu2 0 0 0 0\ncpu3 0 0 0 0\n");
    reader.read_processors([this](ProcessId process) { return vms.contains(process.pid); });
  }

  void add(const std::string& group, const std::string& cpuset = "") {
    fake.add_cgroup(group, 0);
    groups.push_back(group);
    if (!cpuset.empty()) fake.write("cgroup" + group + "/cpuset.cpus.effective", cpuset + "\n");
  }

  // A process that has always run a little more.
  void add_process(pid_t pid, const std::string& group, std::string_view cpus) {
    fake.add_process({.pid = pid, .cgroup = group});
    fake.write(fmt::format("proc/{}/status", pid), status_of(cpus));
    processes.push_back(pid);
  }

  void add_thread(pid_t pid, pid_t tid, std::string_view comm, std::string_view cpus) {
    fake.write(fmt::format("proc/{}/task/{}/comm", pid, tid), fmt::format("{}\n", comm));
    fake.write(fmt::format("proc/{}/task/{}/status", pid, tid), status_of(cpus));
  }

  void read_at(Nanoseconds now) {
    time += 10;
    for (const auto& group : groups) fake.set_cgroup_usage(group, time * 10'000);
    for (const pid_t pid : processes) fake.set_process_time(pid, time);
    ASSERT_TRUE(reader.read(now, sample));
  }

  // On which CPUs a group may run: "1100" are the first two of four.
  std::string cpus_of(std::string_view path) const {
    std::string flags;
    for (const GroupUsage& group : sample.groups) {
      if (group.path != path) continue;
      for (const std::uint8_t flag : sample.cpu_classes.at(group.cpu_class)) flags += flag != 0 ? '1' : '0';
    }
    return flags;
  }

  FakeHost fake;
  HostRoot host = fake.open();
  UsageReader reader{host};
  UsageSample sample;
  std::vector<std::string> groups;
  std::vector<pid_t> processes;
  std::int64_t time = 0;
  std::set<pid_t> vms;
};

TEST_F(AllowedCpusTest, AreThoseOfTheCpusetOfTheGroupOrOfTheNearestOneAbove) {
  add("/a", "0-1");
  add("/a/b");
  add("/a/b/c", "1");
  add("/d");
  read_at(1s);
  read_at(2s);
  EXPECT_EQ(cpus_of("/a"), "1100");
  EXPECT_EQ(cpus_of("/a/b"), "1100");
  EXPECT_EQ(cpus_of("/a/b/c"), "0100");
  EXPECT_EQ(cpus_of("/d"), "1111");
  EXPECT_EQ(sample.cpu_classes.size(), 3U);
}

TEST_F(AllowedCpusTest, AGroupWithoutTheFileSpeaksForItsSiblings) {
  add("/a", "0-1");
  add("/a/a");
  add("/a/b", "3");  // the kernel makes this file for both or for none
  read_at(1s);
  read_at(2s);
  EXPECT_EQ(cpus_of("/a/a"), "1100");
  EXPECT_EQ(cpus_of("/a/b"), "1100");
}

TEST_F(AllowedCpusTest, AreThoseOfTheRootIfItAloneHasTheFile) {
  fake.write("cgroup/cpuset.cpus.effective", "0-2\n");
  add("/a");
  add("/a/b");
  read_at(1s);
  read_at(2s);
  EXPECT_EQ(cpus_of("/a"), "1110");
  EXPECT_EQ(cpus_of("/a/b"), "1110");
}

TEST_F(AllowedCpusTest, AGroupWhoseFileCannotBeReadSaysNothingOfItsSiblings) {
  add("/a", "0-1");
  add("/a/a", std::string(40'000, ' '));
  add("/a/b", "3");
  read_at(1s);
  read_at(2s);
  EXPECT_EQ(cpus_of("/a/a"), "1100");
  EXPECT_EQ(cpus_of("/a/b"), "0001");
}

TEST_F(AllowedCpusTest, AGroupThatIsGoneSaysNothingOfItsSiblings) {
  add("/a", "0-1");
  add("/a/a");
  add("/a/b", "3");
  read_at(1s);
  fake.remove("cgroup/a/a/cgroup.events");
  read_at(2s);
  EXPECT_EQ(cpus_of("/a/b"), "0001");
}

TEST_F(AllowedCpusTest, AreNarrowedToThoseOfItsProcesses) {
  add("/a", "0-2");
  add("/b");
  add_process(10, "/a", "1");
  add_process(11, "/a", "2-3");
  add_process(12, "/b", "3");
  read_at(1s);
  read_at(2s);
  EXPECT_EQ(cpus_of("/a"), "0110");
  EXPECT_EQ(cpus_of("/b"), "0001");
}

TEST_F(AllowedCpusTest, OfAVmAreThoseOfItsVcpus) {
  add("/vm");
  add_process(10, "/vm", "0-3");
  add_thread(10, 10, "qemu-system-x86", "0-3");
  add_thread(10, 11, "CPU 0/KVM", "2");
  add_thread(10, 12, "CPU 1/KVM", "3");
  vms = {10};
  read_at(1s);
  read_at(2s);
  EXPECT_EQ(cpus_of("/vm"), "0011");
}

TEST_F(AllowedCpusTest, AVcpuStaysOneAndNewOnesAreFound) {
  add("/vm");
  for (const pid_t pid : {10, 20}) {
    add_process(pid, "/vm", "0-3");
    add_thread(pid, pid + 1, "CPU 0/KVM", "2");
    vms.insert(pid);
  }
  read_at(1s);
  read_at(2s);
  EXPECT_EQ(cpus_of("/vm"), "0010");
  fake.remove("proc/10/task/11/comm");  // these are not read again
  fake.remove("proc/20/task/21/comm");
  fake.write("proc/10/task/11/status", status_of("3"));
  fake.write("proc/20/task/21/status", status_of("1"));
  add_thread(10, 12, "CPU 1/KVM", "0");
  read_at(12s);
  EXPECT_EQ(cpus_of("/vm"), "1101");
}

TEST_F(AllowedCpusTest, AreReadAgainAfterAMinute) {
  add("/a", "0");
  read_at(1s);
  read_at(2s);
  fake.write("cgroup/a/cpuset.cpus.effective", "3\n");
  read_at(11s);
  EXPECT_EQ(cpus_of("/a"), "1000");
  read_at(12s);  // a new group once more after ten seconds
  EXPECT_EQ(cpus_of("/a"), "0001");
  fake.write("cgroup/a/cpuset.cpus.effective", "2\n");
  read_at(71s);
  EXPECT_EQ(cpus_of("/a"), "0001");
  read_at(72s);
  EXPECT_EQ(cpus_of("/a"), "0010");
}

TEST_F(AllowedCpusTest, AGroupThatIsIdleIsNotExamined) {
  add("/a", "0");
  read_at(1s);
  groups.clear();
  read_at(2s);
  EXPECT_EQ(sample.cpu_classes.size(), 1U);
}

TEST_F(AllowedCpusTest, UsersCannotUseUpTheClasses) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: chown";
  std::string stat = "cpu 0 0 0 0\n";
  for (int cpu = 0; cpu < 64; ++cpu) stat += fmt::format("cpu{} 0 0 0 0\n", cpu);
  fake.write("proc/stat", stat);
  add("/users", "0-63");
  fake.set_cgroup_owner("/users", 1000);
  for (int i = 0; i < 40; ++i) add(fmt::format("/users/{}", i), std::to_string(i));
  add("/z.service", "50");
  read_at(1s);
  read_at(2s);
  EXPECT_EQ(sample.cpu_classes.size(), 1U + 1 + 8);
  EXPECT_EQ(cpus_of("/z.service"), std::string(50, '0') + "1" + std::string(13, '0'));
}

TEST_F(AllowedCpusTest, GarbageMeansAll) {
  add("/a", "0-x");
  add_process(10, "/a", "what");
  read_at(1s);
  read_at(2s);
  EXPECT_EQ(cpus_of("/a"), "1111");
}

TEST(IsVcpuThread, ByTheNameOfTheThread) {
  EXPECT_TRUE(is_vcpu_thread("CPU 12/KVM"));
  EXPECT_TRUE(is_vcpu_thread("CPU 0/TCG"));
  EXPECT_FALSE(is_vcpu_thread("IO iothread1"));
  EXPECT_FALSE(is_vcpu_thread(""));
}

}  // namespace
}  // namespace keplerd
