// SPDX-License-Identifier: Apache-2.0
// Containers and pods: other views of their cgroups' usage, with sums of their own.
#include <gtest/gtest.h>

#include "daemon/meter_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

const std::string kA(64, 'a');
const std::string kB(64, 'b');

class Containers : public testing::Test {
 protected:
  void add(pid_t pid, const std::string& cgroup) {
    host.files.add_cgroup(cgroup);
    host.files.add_process({.pid = pid, .cgroup = cgroup});
  }
  // CPU time, in ticks of 10 ms, for a process and its groups.
  void use(pid_t pid, const std::string& cgroup, std::int64_t ticks) {
    host.files.set_process_time(pid, used[pid] += ticks);
    for (std::string path = cgroup; !path.empty(); path.resize(path.rfind('/')))
      host.files.set_cgroup_usage(path, (group_used[path] += ticks) * 10'000);
  }
  void step(std::int64_t microjoules) {
    host.draw(microjoules);
    host.step();
  }

  MeterHost host;
  std::map<pid_t, std::int64_t> used;
  std::map<std::string, std::int64_t> group_used;
};

TEST_F(Containers, AreListedWithTheirRuntimeAndAShortIdWhereNoNameIsKnown) {
  add(100, "/system.slice/docker-" + kA + ".scope");
  host.begin();
  ASSERT_NE(host.container(kA), nullptr);
  const ContainerInfo& info = *host.container(kA)->info;
  EXPECT_EQ(info.runtime, "docker");
  EXPECT_EQ(info.name, "aaaaaaaaaaaa");
  EXPECT_EQ(info.unit, "/system.slice/docker-" + kA + ".scope");
  EXPECT_EQ(info.parent, std::nullopt);
  EXPECT_EQ(info.pod, std::nullopt);
}

TEST_F(Containers, TheirMonitorIsAPartOfThem) {
  const std::string payload = "/machine.slice/libpod-" + kA + ".scope/container";
  const std::string monitor = "/machine.slice/libpod-conmon-" + kA + ".scope";
  add(100, payload);
  add(101, monitor);
  host.begin();
  use(100, payload, 30);
  use(101, monitor, 10);
  step(8'000'000);
  EXPECT_EQ(host.meter().report()->containers.size(), 1u);
  EXPECT_EQ(host.container(kA)->active, Microjoules{4'000'000});
  EXPECT_EQ(host.container(kA)->own, Microjoules{4'000'000});
  EXPECT_EQ(host.container(kA)->info->unit, "/machine.slice/libpod-" + kA + ".scope");
  for (const pid_t pid : {100, 101}) EXPECT_EQ(host.process(pid)->container->id, kA);

  // It ends with its last cgroup.
  host.files.remove_process(101);
  host.files.remove_cgroup(monitor);
  step(0);
  EXPECT_TRUE(host.container(kA)->running);
  host.files.remove_process(100);
  host.files.remove_cgroup("/machine.slice/libpod-" + kA + ".scope");
  step(0);
  EXPECT_FALSE(host.container(kA)->running);
  EXPECT_EQ(host.container(kA)->active, Microjoules{4'000'000});
}

TEST_F(Containers, OneInAnotherIsInBoth) {
  const std::string outer = "/system.slice/docker-" + kA + ".scope";
  const std::string inner = outer + "/system.slice/docker-" + kB + ".scope";
  add(100, outer + "/init.scope");
  add(101, inner);
  host.begin();
  use(100, outer + "/init.scope", 10);
  use(101, inner, 30);
  step(8'000'000);
  EXPECT_EQ(host.container(kA)->active, Microjoules{4'000'000});
  EXPECT_EQ(host.container(kA)->own, Microjoules{1'000'000});
  const std::string id = kA + "/" + kB;  // names inside are claims of the outer one
  ASSERT_NE(host.container(id), nullptr);
  EXPECT_EQ(host.container(id)->active, Microjoules{3'000'000});
  EXPECT_EQ(host.container(id)->info->name, kB.substr(0, 12));
  EXPECT_EQ(host.container(id)->info->parent, kA);
  EXPECT_EQ(host.process(101)->container->id, id);
}

TEST_F(Containers, APodIsTheSumOfItsContainersAndItsOwn) {
  const std::string slice = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1234_5678.slice";
  const std::string first = slice + "/cri-containerd-" + kA + ".scope";
  const std::string second = slice + "/cri-containerd-" + kB + ".scope";
  add(100, first);
  add(101, second);
  add(102, slice);
  host.begin();
  use(100, first, 10);
  use(101, second, 20);
  use(102, slice, 10);
  step(8'000'000);
  ASSERT_NE(host.pod("1234-5678"), nullptr);
  EXPECT_EQ(host.pod("1234-5678")->active, Microjoules{4'000'000});
  EXPECT_EQ(host.pod("1234-5678")->own, Microjoules{1'000'000});
  EXPECT_EQ(host.container(kA)->info->pod, "1234-5678");
  EXPECT_EQ(host.container(kA)->info->parent, "1234-5678");
  EXPECT_EQ(host.container(kB)->active, Microjoules{2'000'000});
  EXPECT_EQ(host.process(102)->container, nullptr);  // the pod's own
}

TEST_F(Containers, APodWithoutACgroupIsItsContainers) {
  const std::string path = "/system.slice/kubepods-podabcd.slice:cri-containerd:" + kA;
  add(100, path);
  host.begin();
  use(100, path, 10);
  step(2'000'000);
  ASSERT_NE(host.pod("abcd"), nullptr);
  EXPECT_EQ(host.pod("abcd")->active, Microjoules{1'000'000});
  EXPECT_EQ(host.pod("abcd")->own, Microjoules{});
  EXPECT_EQ(host.container(kA)->info->pod, "abcd");
}

TEST_F(Containers, NamesThatAreNotIdsAreDistinguishedByTheirPlace) {
  const std::string mine = "/user.slice/user-1000.slice/user@1000.service/user.slice/lxc.payload.web";
  const std::string theirs = "/user.slice/user-1001.slice/session-3.scope/lxc.payload.web";
  const std::string nested = "/lxc.payload.web/lxc.payload.web";
  add(100, mine);
  add(101, theirs);
  add(102, nested);
  host.begin();
  EXPECT_EQ(host.meter().report()->containers.size(), 4u);
  for (const char* const id : {"web", "web/web", "user-1000/web", "user-1001/web"}) {
    ASSERT_NE(host.container(id), nullptr) << id;
    EXPECT_EQ(host.container(id)->info->name, "web");
  }
  EXPECT_EQ(host.container("web/web")->info->parent, "web");
}

TEST_F(Containers, GoOnWhenStartedAgain) {
  const std::string path = "/system.slice/docker-" + kA + ".scope";
  add(100, path);
  host.begin();
  use(100, path, 10);
  step(2'000'000);
  host.files.remove_process(100);
  host.files.remove_cgroup(path);
  step(0);
  group_used.clear();
  add(101, path);
  step(0);
  use(101, path, 10);
  step(2'000'000);
  EXPECT_TRUE(host.container(kA)->running);
  EXPECT_EQ(host.container(kA)->active, Microjoules{2'000'000});
}

TEST_F(Containers, OneThatTurnsUpInAnotherPodKeepsItsCounterAndLeavesItsPastBehind) {
  const auto inside = [](const std::string& pod) { return "/kubepods/pod" + pod + "/" + kA; };
  add(100, inside("1"));
  add(101, "/kubepods/pod2");
  host.begin();
  use(100, inside("1"), 10);
  step(2'000'000);
  EXPECT_EQ(host.pod("1")->own, Microjoules{});
  EXPECT_EQ(host.container(kA)->in_parent, Microjoules{1'000'000});
  host.files.remove_process(100);
  host.files.remove_cgroup(inside("1"));
  add(102, inside("2"));
  step(0);
  use(102, inside("2"), 10);
  step(2'000'000);
  EXPECT_EQ(host.container(kA)->active, Microjoules{2'000'000});
  EXPECT_EQ(host.container(kA)->in_parent, Microjoules{1'000'000});
  EXPECT_EQ(host.container(kA)->info->parent, "2");
  EXPECT_EQ(host.pod("1")->own, Microjoules{1'000'000});
  EXPECT_EQ(host.pod("2")->active, Microjoules{1'000'000});
}

TEST_F(Containers, OneThatClaimsToBeAnotherInsideItIsOfItsOwn) {
  const std::string path = "/docker/" + kA + "/docker/" + kB + "/docker/" + kA;
  add(100, path);
  host.begin();
  use(100, path, 10);
  step(2'000'000);
  for (const std::string& id : {kA, kA + "/" + kB, kA + "/" + kB + "/" + kA}) {
    ASSERT_NE(host.container(id), nullptr) << id;
    EXPECT_EQ(host.container(id)->active, Microjoules{1'000'000}) << id;
  }
}

TEST_F(Containers, TheirMonitorInsideThemIsCountedOnce) {
  const std::string path = "/machine.slice/libpod-" + kA + ".scope/libpod-conmon-" + kA + ".scope";
  add(100, path);
  host.begin();
  use(100, path, 10);
  step(2'000'000);
  EXPECT_EQ(host.meter().report()->containers.size(), 1u);
  EXPECT_EQ(host.container(kA)->active, Microjoules{1'000'000});
}

TEST_F(Containers, WhatAProcessLeavesBehindStaysTheirs) {
  const std::string path = "/system.slice/docker-" + kA + ".scope";
  add(100, path);
  host.files.add_cgroup("/system.slice/other.service");
  host.begin();
  use(100, path, 10);
  step(2'000'000);
  host.files.move_process(100, "/system.slice/other.service");
  step(0);
  EXPECT_EQ(host.container(kA)->other, Microjoules{1'000'000});
  EXPECT_EQ(host.process(100)->container, nullptr);
}

TEST_F(Containers, ThoseNoLongerKeptBecomeTheirParentsOwn) {
  const std::string outer = "/system.slice/docker-" + kA + ".scope";
  const std::string inner = outer + "/docker/" + kB, id = kA + "/" + kB;
  add(100, outer);
  add(101, inner);
  host.begin();
  host.meter().set_limits({.min_energy = {}, .retention = 60s});
  use(101, inner, 10);
  step(2'000'000);
  host.files.remove_process(101);
  host.files.remove_cgroup(inner);
  step(0);
  EXPECT_NE(host.container(id), nullptr);
  host.step(61s);
  EXPECT_EQ(host.container(id), nullptr);
  EXPECT_EQ(host.container(kA)->own, Microjoules{1'000'000});
  EXPECT_EQ(host.container(kA)->other, Microjoules{1'000'000});

  // One that comes back starts at 0, with those of its processes that are running now.
  add(102, inner);
  step(0);
  use(102, inner, 10);
  step(2'000'000);
  EXPECT_EQ(host.container(id)->active, Microjoules{1'000'000});
}

TEST_F(Containers, GoOnAfterARestartOfKeplerd) {
  const std::string slice = "/kubepods.slice/kubepods-pod1234.slice";
  const std::string path = slice + "/crio-" + kA + ".scope";
  add(100, path);
  host.begin();
  use(100, path, 10);
  step(2'000'000);
  const auto read = parse_state(format_state(host.meter().state()));
  ASSERT_TRUE(read.ok()) << read.error().message;
  host.begin({}, Ledger(*read, "another"), read->readings);
  use(100, path, 10);
  step(2'000'000);
  EXPECT_EQ(host.container(kA)->active, Microjoules{2'000'000});
  EXPECT_EQ(host.pod("1234")->active, Microjoules{2'000'000});
  EXPECT_EQ(host.container(kA)->info->runtime, "crio");
}

}  // namespace
}  // namespace keplerd
