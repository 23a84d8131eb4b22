// SPDX-License-Identifier: Apache-2.0
// Nobody gets another owner's container, pod, unit or name by choosing the names of cgroups.
#include <map>
#include <utility>

#include <gtest/gtest.h>

#include "daemon/identity_host.h"
#include "ledger/state_checks.h"
#include "report/row_selection.h"

namespace keplerd {
namespace {

// 1. A container's id in a cgroup of one's own.

TEST_F(Identity, ACgroupInAUsersSliceIsNotAContainerOfRoots) {
  host.files.write("root/var/lib/docker/containers/" + kHex + "/config.v2.json", R"({"Name":"/secret-db"})");
  const std::string forged = std::string(kAlices) + "/docker-" + kHex + ".scope";
  add(100, kDocker, 0);
  add(200, forged, kAlice);
  host.begin();
  use_all(100, kDocker, 10);
  use_all(200, forged, 30);
  step(8'000'000);
  EXPECT_EQ(container(kHex).active, Microjoules{1'000'000});
  EXPECT_EQ(container(kHex).info->name, "secret-db");
  EXPECT_EQ(container(kHex).info->unit, kDocker);
  EXPECT_EQ(container(kHex).owner, 0U);
  EXPECT_EQ(container(of(kAlice, kHex)).active, Microjoules{3'000'000});
  EXPECT_EQ(container(of(kAlice, kHex)).info->name, kHex.substr(0, 12));
  EXPECT_EQ(container(of(kAlice, kHex)).owner, kAlice);
  EXPECT_EQ(shown_to(kAlice).find("secret"), std::string::npos) << shown_to(kAlice);
  EXPECT_TRUE(is_refused("container", kAlice));
}

TEST_F(Identity, AnEndedContainerOfRootsIsNotGoneOnWithByAUser) {
  const std::string forged = std::string(kAlices) + "/docker-" + kHex + ".scope";
  add(100, kDocker, 0);
  host.begin();
  use_all(100, kDocker, 10);
  step(2'000'000);
  end(100, kDocker);
  step(0);
  add(200, forged, kAlice);
  step(0);
  use_all(200, forged, 10);
  step(2'000'000);
  EXPECT_FALSE(container(kHex).running);
  EXPECT_EQ(container(kHex).active, Microjoules{1'000'000});
  EXPECT_EQ(container(of(kAlice, kHex)).active, Microjoules{1'000'000});
}

TEST_F(Identity, APodInAUsersSliceIsNoneOfKubelets) {
  const auto pod_of = [](const std::string& slice) { return slice + "/kubepods-pod1234_5678.slice"; };
  host.files.write("root/var/log/pods/secret-ns_secret-pod_1234-5678/x/0.log", "");
  const std::string real = pod_of("/kubepods.slice") + "/crio-" + kHex + ".scope";
  const std::string forged = pod_of(kAlices) + "/crio-" + kHex + ".scope";
  add(100, real, 0);
  add(200, forged, kAlice);
  host.begin();
  use_all(100, real, 10);
  use_all(200, forged, 30);
  step(8'000'000);
  EXPECT_EQ(host.pod("1234-5678")->active, Microjoules{1'000'000});
  EXPECT_EQ(host.pod("1234-5678")->info->name, "secret-pod");
  const std::string claimed = of(kAlice, "1234-5678");
  EXPECT_EQ(host.pod(claimed)->active, Microjoules{3'000'000});
  EXPECT_EQ(container(of(kAlice, kHex)).info->pod, claimed);
  EXPECT_EQ(container(kHex).info->pod, "1234-5678");
  EXPECT_EQ(shown_to(kAlice).find("secret"), std::string::npos) << shown_to(kAlice);
}

TEST_F(Identity, InADelegatedServiceTheOwnerOfItsCgroupClaims) {
  const std::string service = "/system.slice/alices.service", forged = service + "/docker-" + kHex + ".scope";
  host.files.add_cgroup(service);
  host.files.set_cgroup_owner(service, kAlice);
  add(100, forged, kAlice);
  host.files.set_cgroup_owner(forged, 0);  // which proves nothing
  host.begin();
  EXPECT_EQ(container(of(kAlice, kHex)).owner, kAlice);
  EXPECT_EQ(host.unit(service).owner, 0U);
  EXPECT_EQ(host.unit(forged).owner, kAlice);
}

TEST_F(Identity, ACgroupInADirectoryOfASubordinateIdIsItsLogins) {
  host.files.write("root/etc/subuid", "alice:100000:65536\nalice:300000:10\nbob:300000:10\n");
  const std::map<std::string, std::pair<Uid, Uid>> services = {
      // the owner of the directory owns it
      {"/system.slice/one.service", {100'999, kAlice}},
      {"/system.slice/two.service", {300'001, 300'001}},
      {"/system.slice/three.service", {400'000, 400'000}}};
  pid_t pid = 100;
  for (const auto& [service, users] : services) {
    host.files.add_cgroup(service);
    host.files.set_cgroup_owner(service, users.first);
    add(pid++, service + "/docker-" + kHex + ".scope", users.first);
  }
  add(200, kDocker, 0);
  host.begin();
  for (const auto& [service, users] : services) {
    EXPECT_EQ(container(of(users.second, kHex)).info->unit, service + "/docker-" + kHex + ".scope");
    EXPECT_EQ(container(of(users.second, kHex)).owner, users.second);
    EXPECT_TRUE(is_refused("container", users.second)) << service;
  }
  EXPECT_EQ(container(kHex).info->unit, kDocker);
  EXPECT_EQ(container(kHex).owner, 0U);
}

TEST_F(Identity, ASliceOfRootsNameInsideAUsersIsTheUsers) {
  const std::string path = std::string(kAlices) + "/user.slice/user-0.slice/docker-" + kHex + ".scope";
  const std::string in_vm =
      std::string(kAlices) + "/x.libvirt-qemu/user.slice/user-0.slice/docker-" + kInner + ".scope";
  add(100, path, kAlice);
  add(101, in_vm, kAlice);
  host.begin();
  EXPECT_EQ(container(of(kAlice, kHex)).owner, kAlice);
  EXPECT_EQ(container(of(kAlice, kInner)).owner, kAlice);
  EXPECT_EQ(host.container(kHex), nullptr);
}

// 6. Names in root's files.

TEST_F(Identity, RootsFilesNameNothingOfAUsers) {
  host.files.write("root/etc/pve/qemu-server/100.conf", "name: secret-vm\n");
  host.files.write("root/etc/pve/lxc/101.conf", "hostname: secret-ct\n");
  host.files.write("root/var/lib/docker/containers/" + kHex + "/config.v2.json", R"({"Name":"/secret-db"})");
  host.files.write("root/var/log/pods/secret-ns_secret-pod_1234-5678/x/0.log", "");
  const std::string slice = std::string(kAlices) + "/qemu.slice/100.scope";
  add(200, slice, kAlice, "qemu-system-x86", command({"qemu-system-x86_64", "-id", "100"}));
  add(201, std::string(kAlices) + "/docker-" + kHex + ".scope", kAlice);
  add(202, std::string(kAlices) + "/kubepods-pod1234_5678.slice", kAlice);
  add(203, std::string(kAlices) + "/lxc.payload.101", kAlice);
  add(204, kCron, kAlice, "qemu-system-x86", command({"qemu-system-x86_64", "-id", "100"}));
  add(300, "/qemu.slice/100.scope", 0, "qemu-system-x86", command({"qemu-system-x86_64", "-id", "100"}));
  add(301, "/lxc.payload.101", 0);
  host.begin();
  step(0);
  EXPECT_EQ(vm("300.300").info->name, "secret-vm");
  EXPECT_EQ(container("101").info->name, "secret-ct");
  for (const Uid user : {kAlice, kBob})
    EXPECT_EQ(shown_to(user).find("secret"), std::string::npos) << shown_to(user);
  for (const VmRow& row : host.meter().report()->vms)
    EXPECT_EQ(row.info->name == "secret-vm", row.info->id == "300.300") << row.info->id;
}

TEST_F(Identity, RootsFilesNameNothingOfTheSystemsUsersEither) {
  host.files.write("root/var/lib/docker/containers/" + kHex + "/config.v2.json", R"({"Name":"/secret-db"})");
  const std::string service = "/system.slice/web.service";
  host.files.add_cgroup(service);
  host.files.set_cgroup_owner(service, 33);
  add(100, service + "/docker-" + kHex + ".scope", 33);
  host.begin();
  step(0);
  EXPECT_EQ(container(kHex).owner, 33U);
  EXPECT_EQ(container(kHex).info->name, kHex.substr(0, 12));
  add(101, kDocker, 0);
  step(0);
  step(0);
  EXPECT_EQ(container(kHex).owner, 0U);
  EXPECT_EQ(container(kHex).info->name, "secret-db");
  EXPECT_EQ(container(of(33, kHex)).info->name, kHex.substr(0, 12));
}

TEST_F(Identity, AProcessWithAnIdOfNoLoginBelongsToItsOwnUser) {
  add(100, kCron, 300'000);
  host.begin();
  EXPECT_EQ(host.process(100)->owner, 300'000U);
  add_qemu(101, kCron, 300'000);
  step(0);
  EXPECT_EQ(vm(of(300'000, kUuid)).owner, 300'000U);
}

TEST_F(Identity, ProcessesThatAUserMovesIntoAContainerOfHisOwnStayTheirUsers) {
  add(100, std::string(kAlices) + "/docker-" + kHex + ".scope", 0, "sudo");
  host.begin();
  EXPECT_EQ(host.process(100)->owner, 0U);
  EXPECT_EQ(shown_to(kAlice).find("sudo"), std::string::npos);
}

TEST_F(Identity, AUnitThatWasAnothersIsShownToNeither) {
  const std::string service = "/system.slice/app.service", group = service + "/x";
  host.files.add_cgroup(service);
  host.files.set_cgroup_owner(service, kAlice);
  add(100, group, kAlice);
  host.begin();
  EXPECT_EQ(host.unit(group).owner, kAlice);
  end(100, group);
  step(0);
  host.files.set_cgroup_owner(service, kBob);
  add(101, group, kBob);
  step(0);
  EXPECT_EQ(host.unit(group).owner, 0U);
}

TEST_F(Identity, OwnersAndIdsGoOnAfterARestart) {
  const std::string forged = std::string(kAlices) + "/docker-" + kHex + ".scope";
  add(100, kDocker, 0);
  add(200, forged, kAlice);
  start_in_scope(300);
  add_qemu(301, kCron, kAlice);
  host.begin();
  use_all(100, kDocker, 10);
  use_all(200, forged, 20);
  use_all(301, kCron, 10);
  step(8'000'000);
  const auto read = parse_state(format_state(host.meter().state()));
  ASSERT_TRUE(read.ok()) << read.error().message;
  host.begin({}, Ledger(*read, "another"), read->readings);
  EXPECT_EQ(container(kHex).active, Microjoules{1'000'000});
  EXPECT_EQ(container(of(kAlice, kHex)).active, Microjoules{2'000'000});
  EXPECT_EQ(energy(of(kAlice, kUuid)), Microjoules{1'000'000});
  EXPECT_EQ(vm(kUuid).owner, 0U);
  EXPECT_EQ(host.meter().report()->containers.size(), 2u);
  EXPECT_EQ(host.meter().report()->vms.size(), 2u);
}

TEST_F(Identity, AnIdIsFoundBareWhereOnlyOneHasIt) {
  add(200, std::string(kAlices) + "/docker-" + kHex + ".scope", kAlice);
  host.begin();
  const auto find = [&] { return find_row(host.view(), RowKind::kContainers, kHex); };
  EXPECT_TRUE(find().index);
  add(201, std::string(kBobs) + "/docker-" + kHex + ".scope", kBob);
  step(0);
  EXPECT_FALSE(find().index);
  EXPECT_EQ(find().ids, (std::vector<std::string>{of(kAlice, kHex), of(kBob, kHex)}));
  add(100, kDocker, 0);
  step(0);
  EXPECT_EQ(host.meter().report()->containers[find().index.value()].info->id, kHex);
}

TEST_F(Identity, EndedOnesOfAUserDoNotDisplaceThoseOfOthers) {
  host.begin();
  host.meter().set_limits({.max = 2, .min_energy = {}});
  start_in_scope(100);
  step(0);
  end_in_scope(100);
  step(0);
  for (pid_t pid = 200; pid < 205; ++pid) {
    add(pid, kCron, kAlice, "qemu-system-x86", command({"qemu-system-x86_64", "-m", "1"}));
    step(0);
    use_all(pid, kCron, 10);
    step(2'000'000);
    host.files.remove_process(pid);
    step(0);
  }
  EXPECT_NE(host.vm(kUuid), nullptr);
  EXPECT_EQ(host.meter().report()->vms.size(), 3u);
}

// A pod is not a boundary: its id does not include its parents, and each may be found inside the other.
TEST_F(Identity, PodsInEachOtherAreInOneOnly) {
  const std::string one = std::string(kAlices) + "/1", two = std::string(kAlices) + "/2";
  const std::string p = "/kubepods-pod" + std::string(32, '1') + ".slice";
  const std::string q = "/kubepods-pod" + std::string(32, '2') + ".slice";
  for (const std::string& path : {one, two, one + p, two + q}) host.files.add_cgroup(path);
  host.begin();
  step(0);
  for (const std::string& path : {one + p + q, two + q + p})
    add(path == two + q + p ? 201 : 200, path, kAlice);
  step(0);
  use_all(200, one + p + q, 10);
  use_all(201, two + q + p, 10);
  step(4'000'000);
  const auto report = host.meter().report();
  ASSERT_EQ(report->pods.size(), 2U);
  for (const ContainerRow& pod : report->pods) EXPECT_EQ(pod.owner, kAlice);
  EXPECT_NO_THROW(check_state(host.meter().state()));
  shown_to(kAlice);
}

// Otherwise a user could create arbitrarily long chains of pods, at any depth of directories.
TEST_F(Identity, APodDirectlyInAPodIsAPartOfThat) {
  const auto pod = [](int i) {
    return "/kubepods-pod" + std::string(32, static_cast<char>('0' + i)) + ".slice";
  };
  const std::string base(kAlices);
  for (int i = 9; i > 0; --i) host.files.add_cgroup(base + pod(i));
  host.begin();
  step(0);
  for (int i = 8; i > 0; --i) add(200 + i, base + pod(i) + pod(i + 1), kAlice);
  step(0);
  use_all(201, base + pod(1) + pod(2), 10);
  step(2'000'000);
  const auto report = host.meter().report();
  ASSERT_EQ(report->pods.size(), 9U);
  for (const ContainerRow& row : report->pods) {
    EXPECT_FALSE(row.info->parent) << row.info->id;
    EXPECT_EQ(row.active, Microjoules{row.info->id.ends_with(std::string(32, '1')) ? 1'000'000 : 0});
  }
}

// Otherwise nobody's totals could be restored.
TEST_F(Identity, AContainerAndAPodOfOneIdAreTwo) {
  add(200, std::string(kAlices) + "/libpod-" + kHex + ".scope", kAlice);
  add(201, std::string(kAlices) + "/user-libpod_pod_" + kHex + ".slice", kAlice);
  host.begin();
  step(2'000'000);
  const auto report = host.meter().report();
  ASSERT_EQ(report->containers.size(), 1U);
  ASSERT_EQ(report->pods.size(), 1U);
  EXPECT_NE(report->containers[0].info->id, report->pods[0].info->id);
  EXPECT_NO_THROW(check_state(host.meter().state()));
}

}  // namespace
}  // namespace keplerd
