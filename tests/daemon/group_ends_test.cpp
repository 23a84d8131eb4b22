// SPDX-License-Identifier: Apache-2.0
// What units, containers and VMs used between the last sample before their end and that end is theirs.
#include <gtest/gtest.h>

#include "daemon/vm_host.h"

namespace keplerd {
namespace {

const std::string kContainer(64, 'a');

class GroupEnds : public VmTest {
 protected:
  void take_events() {
    for (const CgroupQueue queue : kCgroupQueues) host.meter().take_group_events(queue);
  }

  // Time of the only process of a group: it is also that of the groups around it.
  void run(pid_t pid, const std::string& path, std::int64_t ticks) {
    used[pid] += ticks;
    host.files.set_process_time(pid, used[pid]);
    for (std::string group = path; !group.empty(); group.resize(group.rfind('/')))
      host.files.set_cgroup_usage(group, (group_used[group] += ticks) * 10'000);
  }

  void start(pid_t pid, const std::string& path) {
    host.files.add_cgroup(path);
    host.files.add_process({.pid = pid, .start = static_cast<std::uint64_t>(pid), .cgroup = path});
    group_used[path] = 0;
    take_events();
  }

  // keplerd notices the end of the process before the manager removes the cgroup.
  void end(pid_t pid, const std::string& path) {
    host.files.remove_process(pid);
    host.files.set_cgroup_populated(path, false);
    take_events();
    host.files.remove_cgroup(path);
    take_events();
  }
};

TEST_F(GroupEnds, UnitHasItsLastEnergy) {
  const std::string path = "/system.slice/short.service";
  host.begin();
  start(100, path);
  run(100, path, 10);
  step(2'000'000);
  run(100, path, 30);
  end(100, path);
  step(4'000'000);
  EXPECT_EQ(host.unit(path).active, Microjoules{3'000'000});
  EXPECT_EQ(host.unit("/system.slice").own, Microjoules{0});
  step(0);
  EXPECT_FALSE(host.unit(path).running);
  EXPECT_EQ(host.meter().report()->missed_ends, 0U);
}

TEST_F(GroupEnds, UnitThatIsRestartedBetweenSamplesHasTheEnergyOfEachRun) {
  const std::string path = "/system.slice/again.service";
  host.files.add_cgroup("/system.slice");
  host.begin();
  for (pid_t pid = 100; pid < 105; ++pid) {
    start(pid, path);
    run(pid, path, 10);
    end(pid, path);
  }
  start(105, path);
  step(4'000'000);
  EXPECT_EQ(host.unit(path).active, Microjoules{2'000'000});
  EXPECT_EQ(host.unit(path).cpu, std::chrono::milliseconds(500));
  EXPECT_EQ(host.unit("/system.slice").own, Microjoules{0});
  EXPECT_TRUE(host.unit(path).running);
}

TEST_F(GroupEnds, RemovedBeforeItWasReadItsEnergyIsItsParentsAndThatIsCounted) {
  const std::string path = "/system.slice/short.service";
  host.begin();
  start(100, path);
  step(0);
  run(100, path, 40);
  host.files.remove_process(100);
  host.files.remove_cgroup(path);
  step(4'000'000);
  EXPECT_EQ(host.unit(path).active, Microjoules{0});
  EXPECT_EQ(host.unit("/system.slice").own, Microjoules{2'000'000});
  EXPECT_EQ(host.meter().report()->missed_ends, 1U);
}

TEST_F(GroupEnds, ContainerThatNoSampleSawHasItsEnergy) {
  const std::string path = "/system.slice/docker-" + kContainer + ".scope";
  host.files.add_cgroup("/system.slice");
  host.begin();
  start(100, path);
  run(100, path, 20);
  end(100, path);
  step(4'000'000);
  ASSERT_NE(host.container(kContainer), nullptr);
  EXPECT_EQ(host.container(kContainer)->active, Microjoules{2'000'000});
}

TEST_F(GroupEnds, VmHasItsLastEnergy) {
  start_in_scope(100);
  host.begin();
  run(100, kScope, 10);
  step(2'000'000);
  EXPECT_EQ(energy(kUuid), Microjoules{1'000'000});
  run(100, kScope, 20);
  end(100, kScope);
  step(4'000'000);
  EXPECT_EQ(energy(kUuid), Microjoules{3'000'000});
  step(0);
  EXPECT_FALSE(host.vm(kUuid)->running);
  EXPECT_EQ(energy(kUuid), Microjoules{3'000'000});
}

}  // namespace
}  // namespace keplerd
