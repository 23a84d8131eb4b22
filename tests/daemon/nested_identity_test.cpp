// SPDX-License-Identifier: Apache-2.0
// Containers and VMs nested in every possible way: each is found, each belongs to its owner, and in each
// claims to other owners' ids fail.
#include <map>

#include <gtest/gtest.h>

#include "daemon/identity_host.h"

namespace keplerd {
namespace {

class InsideContainers : public Identity {
 protected:
  // Of a container, a VM (kUuid) and what is inside `outer` under the same names, only the latter has used
  // anything; all of it is root's.
  void expect_only_inside(const std::string& outer, const std::string& name) {
    EXPECT_EQ(container(name).active, Microjoules{});
    EXPECT_EQ(energy(kUuid), Microjoules{});
    EXPECT_EQ(vm(kUuid).info->pid, 101);
    const std::string inner = outer + "/" + name;
    EXPECT_EQ(container(inner).owner, 0U);
    EXPECT_EQ(container(inner).info->parent, outer);
    EXPECT_EQ(vm(inner + "/" + kUuid).owner, 0U);
    for (const Uid user : {kAlice, Uid{165'536}, Uid{166'536}, Uid{524'288}, Uid{525'288}})
      EXPECT_EQ(shown_to(user), "") << user;
  }
};

// 7. Found.

TEST_F(Identity, AnNspawnContainerThatKeepsItsServiceIsFoundByMachined) {
  const std::string service = "/system.slice/nsp.service";
  add(100, service + "/payload", 524'288);
  host.begin();
  EXPECT_TRUE(host.meter().report()->containers.empty());
  const std::string record = "NAME=box\nSCOPE=nsp.service\nSERVICE=systemd-nspawn\nCLASS=container\n";
  host.files.write("root/run/systemd/machines/box", record);
  step(0);
  use_all(100, service + "/payload", 10);
  step(2'000'000);
  EXPECT_EQ(container("box").info->runtime, "nspawn");
  EXPECT_EQ(container("box").info->unit, service);
  EXPECT_EQ(container("box").owner, 0U);
  EXPECT_EQ(container("box").active, Microjoules{1'000'000});
  EXPECT_EQ(host.process(100)->container->id, "box");
  EXPECT_EQ(host.process(100)->owner, 0U);
}

TEST_F(Identity, AVirtualBoxWithoutAWindowManagerIsFoundByItsComment) {
  add(100, kAlices, kAlice, "VBoxSDL", command({"/usr/lib/virtualbox/VBoxSDL", "--comment", "win10"}));
  add(101, kCron, 0, "VBoxSDL", command({"VBoxSDL", "--comment", "win11"}));
  host.begin();
  use_all(100, kAlices, 10);
  step(2'000'000);
  EXPECT_EQ(vm(of(kAlice, "100.100")).info->name, "win10");
  EXPECT_EQ(vm(of(kAlice, "100.100")).info->hypervisor, "virtualbox");
  EXPECT_EQ(vm(of(kAlice, "100.100")).owner, kAlice);
  EXPECT_EQ(energy(of(kAlice, "100.100")), Microjoules{1'000'000});
  EXPECT_EQ(vm("101.101").info->name, "win11");
  EXPECT_EQ(vm("101.101").owner, 0U);
}

TEST_F(Identity, WhereMachinedsRecordComesLateOrGoesEarlyContainersStillAddUp) {
  const std::string service = "/system.slice/nsp.service";
  const auto expect_sums = [this] {
    const auto report = host.meter().report();
    for (const ContainerRow& row : report->containers) {
      Microjoules processes;
      for (const ProcessRow& process : host.view().processes->rows) {
        if (process.container && process.container->id == row.info->id) processes += process.in_unit;
      }
      EXPECT_EQ(row.own, row.other + processes) << row.info->id;
    }
  };
  add(100, service + "/payload", 524'288);
  host.begin();
  use_all(100, service + "/payload", 10);
  step(2'000'000);
  host.files.write("root/run/systemd/machines/box",
                   "NAME=box\nSCOPE=nsp.service\nSERVICE=systemd-nspawn\nCLASS=container\n");
  use_all(100, service + "/payload", 20);
  step(2'000'000);
  EXPECT_EQ(host.process(100)->container->id, "box");
  expect_sums();
  host.files.remove("root/run/systemd/machines/box");
  use_all(100, service + "/payload", 30);
  step(2'000'000);
  EXPECT_EQ(host.process(100)->container, nullptr);
  expect_sums();
}

TEST_F(Identity, MachinedNamesNoUnitOfAUsers) {
  const std::string service = std::string(kAlices) + "/nsp.service";
  add(100, service, kAlice);
  host.files.write("root/run/systemd/machines/box",
                   "NAME=box\nSCOPE=nsp.service\nSERVICE=systemd-nspawn\nCLASS=container\n");
  host.begin();
  step(0);
  EXPECT_TRUE(host.meter().report()->containers.empty());
}

// Identity inside containers.

TEST_F(Identity, LxcContainersWithOneIdmapAreApartAndClaimEachOthersIdsInVain) {
  host.files.write("root/etc/subuid", "root:100000:65536\nalice:100000:65536\n");
  for (const char* const name : {"one", "two"}) {
    const std::string payload = std::string("/lxc.payload.") + name;
    host.files.add_cgroup(payload);
    host.files.set_cgroup_owner(payload, 100'000);
  }
  add(100, "/lxc.payload.one/docker-" + kHex + ".scope", 100'000);
  add(200, "/lxc.payload.two/docker-" + kHex + ".scope", 100'033);
  add(201, "/lxc.payload.two/lxc.payload.one", 100'033);
  add_qemu(202, "/lxc.payload.two", 100'033);
  add(203, "/lxc.payload.two/user.slice/user-1000.slice", 101'000);
  host.begin();
  for (const std::string& id :
       {std::string("one"), "one/" + kHex, std::string("two"), "two/" + kHex, std::string("two/one")})
    EXPECT_EQ(container(id).owner, 0U) << id;
  EXPECT_EQ(vm(std::string("two/") + kUuid).owner, 0U);
  EXPECT_EQ(host.container(kHex), nullptr);
  for (const pid_t pid : {100, 200, 201, 202, 203}) EXPECT_EQ(host.process(pid)->owner, 0U) << pid;
  for (const Uid user : {kAlice, kBob, Uid{100'000}, Uid{100'033}}) EXPECT_EQ(shown_to(user), "") << user;
}

TEST_F(Identity, DockerInDockerAsRootClaimsNothingOutside) {
  add(100, kDocker, 0);
  add(101, "/system.slice/docker-" + kInner + ".scope", 0);
  add(200, kDocker + "/docker/" + kInner, 0);
  add_qemu(201, kDocker + "/docker/" + kInner, 0);
  start_in_scope(300);
  host.begin();
  use_all(200, kDocker + "/docker/" + kInner, 10);
  use_all(201, kDocker + "/docker/" + kInner, 10);
  step(4'000'000);
  EXPECT_EQ(container(kInner).active, Microjoules{});
  EXPECT_EQ(container(kHex + "/" + kInner).active, Microjoules{2'000'000});
  EXPECT_EQ(energy(kUuid), Microjoules{});
  EXPECT_EQ(energy(kHex + "/" + kInner + "/" + kUuid), Microjoules{1'000'000});
  EXPECT_EQ(vm(kUuid).info->pid, 300);
}

TEST_F(Identity, WithUsernsRemapAContainerIsRootsAndItsProcessesToo) {
  host.files.write("root/etc/subuid", "dockremap:165536:65536\n");
  add(100, kDocker + "/init", 165'536);
  host.files.set_cgroup_owner(kDocker, 165'536);
  host.begin();
  EXPECT_EQ(container(kHex).owner, 0U);
  EXPECT_EQ(host.process(100)->owner, 0U);
  EXPECT_EQ(host.unit(kDocker + "/init").owner, 0U);
}

TEST_F(InsideContainers, OfUsernsRemapClaimNothingOutside) {
  host.files.write("root/etc/subuid", "dockremap:165536:65536\n");
  const std::string inner = kDocker + "/docker/" + kInner;
  add(100, "/system.slice/docker-" + kInner + ".scope", 0);
  start_in_scope(101);
  add(200, inner, 165'536);
  for (const std::string& path : {kDocker, kDocker + "/docker"}) host.files.set_cgroup_owner(path, 165'536);
  add_qemu(201, inner, 166'536);
  add(202, inner, 165'536, "swtpm", command({"swtpm", std::string("dir=/x/") + kUuid + "/tpm2"}));
  host.begin();
  for (const pid_t pid : {200, 201, 202}) use_all(pid, inner, 10);
  step(6'000'000);
  expect_only_inside(kHex, kInner);
  EXPECT_EQ(container(kHex + "/" + kInner).active, Microjoules{3'000'000});
  EXPECT_EQ(energy(kHex + "/" + kInner + "/" + kUuid), Microjoules{2'000'000}) << "with its helper";
  for (const pid_t pid : {200, 201, 202}) EXPECT_EQ(host.process(pid)->owner, 0U) << pid;
}

TEST_F(InsideContainers, OfNspawnWithAUserNamespaceClaimNothingOutside) {
  const std::string box = "/machine.slice/machine-box.scope", payload = box + "/payload";
  const std::string inner = payload + "/machine.slice/machine-web.scope";
  add(100, "/machine.slice/machine-web.scope", 0);
  start_in_scope(101);
  add(200, inner, 524'288);
  for (const std::string& path : {box, payload, payload + "/machine.slice", inner})
    host.files.set_cgroup_owner(path, 524'288);
  add_qemu(201, inner, 524'288, kUuid, "web");
  add(202, payload + "/machine-qemu\\x2d1\\x2dweb.scope", 525'288);
  host.begin();
  for (const pid_t pid : {200, 201}) use_all(pid, inner, 10);
  step(4'000'000);
  expect_only_inside("box", "web");
  EXPECT_EQ(container("box/web").active, Microjoules{2'000'000});
  EXPECT_EQ(energy(std::string("box/web/") + kUuid), Microjoules{1'000'000});
  EXPECT_EQ(host.meter().report()->vms.size(), 2u) << "a scope in there is no VM's";
}

TEST_F(Identity, RootlessPodmansOfTwoUsersAreEachTheirs) {
  host.files.write("root/etc/subuid", "alice:100000:65536\nbob:165536:65536\n");
  const std::string alices = std::string(kAlices) + "/libpod-" + kHex + ".scope/container";
  const std::string bobs = std::string(kBobs) + "/libpod-" + kHex + ".scope/container";
  add(100, alices, 100'999);
  add(200, bobs, 166'535);
  host.begin();
  use_all(100, alices, 10);
  use_all(200, bobs, 30);
  step(8'000'000);
  EXPECT_EQ(container(of(kAlice, kHex)).active, Microjoules{1'000'000});
  EXPECT_EQ(container(of(kBob, kHex)).active, Microjoules{3'000'000});
  EXPECT_EQ(host.process(100)->owner, kAlice);
  EXPECT_EQ(host.process(200)->owner, kBob);
  EXPECT_EQ(shown_to(kAlice).find("1001"), std::string::npos) << shown_to(kAlice);
}

TEST_F(Identity, SessionVmsOfTwoUsersAreEachTheirsByWhateverUuid) {
  struct Session {
    pid_t pid;
    Uid user;
    const char* slice;
    const char* uuid;
    const char* name;
  };
  const std::vector<Session> sessions = {{100, kAlice, kAlices, kUuid, "first-of-alice"},
                                         {101, kAlice, kAlices, kOther, "second-of-alice"},
                                         {200, kBob, kBobs, kOther, "first-of-bob"},
                                         {201, kBob, kBobs, kUuid, "second-of-bob"}};
  for (const auto& [pid, user, slice, uuid, name] : sessions) {
    add_qemu(pid, std::string(slice) + "/" + name + ".scope", user, uuid);
    host.files.write("root/run/user/" + std::to_string(user) + "/libvirt/qemu/run/" + name + ".xml",
                     "<domstatus state='running' pid='" + std::to_string(pid) + "'><domain><name>" + name +
                         "</name><uuid>" + uuid + "</uuid></domain></domstatus>");
  }
  host.begin();
  for (const auto& [pid, user, slice, uuid, name] : sessions)
    use_all(pid, std::string(slice) + "/" + name + ".scope", pid / 10);
  step(2 * 6'000'000);
  EXPECT_EQ(host.meter().report()->vms.size(), sessions.size());
  for (const auto& [pid, user, slice, uuid, name] : sessions) {
    const VmRow& row = vm(of(user, uuid));
    EXPECT_EQ(row.owner, user) << name;
    EXPECT_EQ(row.info->name, name);
    EXPECT_EQ(row.info->pid, pid);
    EXPECT_EQ(row.active, Microjoules{pid / 10 * 100'000}) << name;
    EXPECT_EQ(host.process(pid)->owner, user) << name;
    EXPECT_EQ(shown_to(user == kAlice ? kBob : kAlice).find(name), std::string::npos) << name;
  }
  for (const Uid user : {kAlice, kBob}) EXPECT_FALSE(is_refused("vm", user)) << user;
}

}  // namespace
}  // namespace keplerd
