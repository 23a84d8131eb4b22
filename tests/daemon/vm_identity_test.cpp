// SPDX-License-Identifier: Apache-2.0
// Nobody gets another owner's VM, its name, account or energy by choosing programs and their arguments.
#include <gtest/gtest.h>

#include "daemon/identity_host.h"

namespace keplerd {
namespace {

class VmIdentity : public Identity {};

// 2. A VM's UUID in the arguments of one's own program.

TEST_F(VmIdentity, AProgramOfAUsersWithTheUuidOfAStoppedVmIsNotThatVm) {
  write_status("web", kUuid, 100, "", "<title>Secret</title>");
  start_in_scope(100);
  host.begin();
  use(100, kScope, 10);
  step(2'000'000);
  end_in_scope(100);
  host.files.remove("root/run/libvirt/qemu/web.xml");
  step(0);
  for (const auto& [pid, cgroup] : {std::pair{200, kAlices}, std::pair{201, kCron}}) {
    add_qemu(pid, cgroup, kAlice);
    step(0);
    use_all(pid, cgroup, 10);
    step(2'000'000);
    EXPECT_FALSE(vm(kUuid).running);
    EXPECT_EQ(energy(kUuid), Microjoules{1'000'000});
    EXPECT_EQ(vm(kUuid).info->name, "web");
    EXPECT_EQ(vm(kUuid).owner, 0U);
  }
  EXPECT_EQ(vm(of(kAlice, kUuid)).info->name, "forged");
  EXPECT_EQ(vm(of(kAlice, kUuid)).owner, kAlice);
  EXPECT_TRUE(is_refused("vm", kAlice));
  EXPECT_EQ(shown_to(kAlice).find("web"), std::string::npos) << shown_to(kAlice);
  EXPECT_EQ(shown_to(kAlice).find("Secret"), std::string::npos) << shown_to(kAlice);

  // The real one continues.
  group_used.erase(kScope);
  start_in_scope(300, qemu("web", kUuid), 900);
  step(0);
  use(300, kScope, 10);
  step(2'000'000);
  EXPECT_TRUE(vm(kUuid).running);
  EXPECT_EQ(energy(kUuid), Microjoules{2'000'000});
  EXPECT_EQ(vm(kUuid).info->pid, 300);
}

TEST_F(VmIdentity, OfTheSystemsUsersTheFirstHasAnIdUntilRootHasIt) {
  add_qemu(200, "/system.slice/web.service", 33);
  host.begin();
  EXPECT_EQ(vm(kUuid).owner, 33U);
  use_all(200, "/system.slice/web.service", 10);
  step(2'000'000);
  add_qemu(201, "/system.slice/other.service", 34);
  step(0);
  EXPECT_EQ(vm(of(34, kUuid)).owner, 34U);
  EXPECT_TRUE(is_refused("vm", 34));
  start_in_scope(300);
  step(0);
  EXPECT_EQ(vm(kUuid).owner, 0U);
  EXPECT_EQ(vm(kUuid).info->name, "web");
  EXPECT_EQ(energy(kUuid), Microjoules{});
  EXPECT_EQ(vm(of(33, kUuid)).owner, 33U);
  EXPECT_EQ(energy(of(33, kUuid)), Microjoules{1'000'000});
  EXPECT_TRUE(vm(of(33, kUuid)).running);
}

TEST_F(VmIdentity, RootsOwnProgramGivesWayToTheVmThatItClaims) {
  add_qemu(200, kCron, 0);
  host.begin();
  EXPECT_EQ(vm(kUuid).info->pid, 200);
  start_in_scope(300);
  step(0);
  EXPECT_EQ(vm(kUuid).info->pid, 300);
  EXPECT_EQ(vm(kUuid).info->name, "web");
  EXPECT_TRUE(vm("200.200").running);
}

TEST_F(VmIdentity, ASetUserIdProgramClaimsForTheUserWhoStartedIt) {
  host.files.add_cgroup(kCron);
  host.files.add_process(
      {.pid = 200,
       .comm = "passwd",
       .start = 200,
       .cgroup = kCron,
       .cmdline = command({"qemu-system-x86_64", "-name", "x,process=passwd", "-uuid", kUuid}),
       .user = 0,
       .real_user = kAlice});
  host.begin();
  EXPECT_EQ(host.vm(kUuid), nullptr);
  EXPECT_EQ(vm(of(kAlice, kUuid)).owner, kAlice);
}

TEST_F(VmIdentity, AUserWhomRootsContainersMayMapIsNotRoot) {
  host.files.write("root/etc/subuid", "root:1000:1\n");
  start_in_scope(100);
  host.begin();
  end_in_scope(100);
  step(0);
  add_qemu(200, kCron, kAlice);
  step(0);
  EXPECT_FALSE(vm(kUuid).running);
  EXPECT_EQ(vm(kUuid).info->name, "web");
  EXPECT_EQ(vm(of(kAlice, kUuid)).owner, kAlice);
  EXPECT_EQ(host.process(200)->owner, kAlice);
}

TEST_F(VmIdentity, SudosProgramInAUsersSliceIsRoots) {
  add_qemu(200, "/user.slice/user-1000.slice/session-3.scope", 0, kUuid, "by-sudo");
  host.begin();
  EXPECT_EQ(vm(kUuid).owner, 0U);
  EXPECT_EQ(shown_to(kAlice).find("by-sudo"), std::string::npos);
}

TEST_F(VmIdentity, ARecordIsOfTheProcessThatItWasWrittenFor) {
  host.now.realtime = std::chrono::hours(24 * 365 * 100);  // after the file was written
  write_status("stale", kUuid, 200);
  add_qemu(200, kCron, kAlice);
  host.begin();
  EXPECT_EQ(host.vm(kUuid), nullptr);
  EXPECT_EQ(vm(of(kAlice, kUuid)).info->name, "forged");
}

TEST_F(VmIdentity, ARecordIsRootsFile) {
  write_status("web", kUuid, 200);
  set_owner("root/run/libvirt/qemu/web.xml", kAlice);
  add_qemu(200, kCron, kAlice);
  host.begin();
  EXPECT_EQ(host.vm(kUuid), nullptr);
  EXPECT_EQ(vm(of(kAlice, kUuid)).info->name, "forged");
}

TEST_F(VmIdentity, ARecordIsBetterThanACommandLine) {
  write_status("web", kUuid, 200);
  add_qemu(200, "/system.slice/libvirtd.service", kLibvirt, kOther);
  host.begin();
  EXPECT_EQ(vm(kUuid).info->name, "web");
  EXPECT_EQ(vm(kUuid).owner, 0U);
  EXPECT_EQ(host.vm(kOther), nullptr);
}

// 3. Helpers.

TEST_F(VmIdentity, AUsersProgramHelpsNoVmOfOthers) {
  start_in_scope(100);
  const std::string socket = "/run/fs.sock", path = std::string("dir=/x/") + kUuid + "/tpm2";
  pid_t pid = 200;
  for (const char* const program : {"swtpm", "virtiofsd", "passt", "vhost-user-blk"})
    add(pid++, kCron, kAlice, program, command({program, "socket", path, "--socket-path=" + socket}));
  add(300, "/system.slice/tpm.service", 0, "swtpm", command({"swtpm", "socket", path}));
  host.begin();
  for (pid = 200; pid < 204; ++pid) use_all(pid, kCron, 10);
  use_all(300, "/system.slice/tpm.service", 10);
  step(10'000'000);
  EXPECT_EQ(energy(kUuid), Microjoules{1'000'000}) << "root's alone";
  for (pid = 200; pid < 204; ++pid) EXPECT_EQ(host.process(pid)->vm, nullptr);
  EXPECT_TRUE(is_refused("helper", kAlice));
}

TEST_F(VmIdentity, AHelperMayBeTheVmsOwnUsersOrOneThatLibvirtNames) {
  host.files.add_cgroup(kScope);
  add(100, kScope, kLibvirt, "qemu-system-x86", qemu("web", kUuid));
  const std::string path = std::string("dir=/x/") + kUuid + "/tpm2";
  add(200, kCron, kLibvirt, "swtpm", command({"swtpm", path}));
  add(201, kCron, 110, "swtpm", command({"swtpm", path}));
  add(202, kCron, 110, "swtpm", command({"swtpm", path}));
  add(203, kCron, kAlice, "swtpm", command({"swtpm", path}));
  add(204, kCron, kAlice, "swtpm", command({"swtpm", path}));
  for (const pid_t pid : {201, 203, 204})
    host.files.write("root/run/libvirt/qemu/swtpm/" + std::to_string(pid) + "-swtpm.pid",
                     std::to_string(pid) + "\n");
  set_owner("root/run/libvirt/qemu/swtpm/204-swtpm.pid", kAlice);
  host.begin();
  for (pid_t pid = 200; pid < 205; ++pid) use_all(pid, kCron, 10);
  step(10'000'000);
  EXPECT_EQ(energy(kUuid), Microjoules{3'000'000});
  for (const pid_t pid : {200, 201, 203}) EXPECT_NE(host.process(pid)->vm, nullptr) << pid;
  for (const pid_t pid : {202, 204}) EXPECT_EQ(host.process(pid)->vm, nullptr) << pid;
  EXPECT_EQ(shown_to(kAlice).find(kUuid), std::string::npos) << shown_to(kAlice);
}

TEST_F(VmIdentity, AHelperOfAVmThatHasEndedIsNotTheNextOnes) {
  start_in_scope(100);
  add(200, kCron, 0, "swtpm", command({"swtpm", std::string("dir=/x/") + kUuid + "/tpm2"}));
  host.begin();
  for (int i = 0; i < 8; ++i) {  // each start may reuse the previous one's memory
    const pid_t pid = 300 + i;
    if (i == 0) end_in_scope(100);
    if (i > 0) host.files.remove_process(pid - 1);
    add_qemu(pid, "/system.slice/vm.service", 0, kOther, "other");
    step(0);
    use_all(200, kCron, 10);
    step(2'000'000);
  }
  EXPECT_EQ(energy(kOther), Microjoules{});
  EXPECT_EQ(energy(kUuid), Microjoules{});
}

TEST_F(VmIdentity, RootsHelperIsNotShownToAUserClaimingItsVm) {
  add_qemu(100, kAlices, kAlice);
  add(200, kCron, 0, "swtpm", command({"swtpm", std::string("/x/") + kUuid + "/tpm2"}));
  add(201, kCron, kAlice, "swtpm", command({"swtpm", std::string("/x/") + kUuid + "/tpm2"}));
  host.begin();
  use_all(200, kCron, 10);
  use_all(201, kCron, 10);
  step(4'000'000);
  EXPECT_EQ(energy(of(kAlice, kUuid)), Microjoules{1'000'000}) << "alice's alone";
}

TEST_F(VmIdentity, AProcessThatRunsAVmHelpsNoOther) {
  const std::string path = std::string("dir=/x/") + kUuid + "/tpm2";
  const auto become = [&](pid_t pid, const std::string& comm, const std::string& line) {
    host.files.remove_process(pid);
    add(pid, kCron, kAlice, comm, line);
  };
  add_qemu(100, kAlices, kAlice);
  add_qemu(200, kCron, kAlice, kOther);
  add(201, kCron, kAlice, "swtpm", command({"swtpm", path}));
  host.begin();
  become(200, "swtpm", command({"swtpm", path}));
  become(201, "qemu-system-x86", command({"qemu-system-x86_64", "-m", "64"}));
  step(0);
  for (const pid_t pid : {200, 201}) use_all(pid, kCron, 10);
  step(4'000'000);
  EXPECT_EQ(energy(of(kAlice, kUuid)), Microjoules{});
  EXPECT_EQ(energy(of(kAlice, kOther)), Microjoules{1'000'000});
  EXPECT_EQ(energy(of(kAlice, "201.201")), Microjoules{1'000'000});
}

// 4. The crash, and 5. the guess.

TEST_F(VmIdentity, AUsersCgroupThatIsNamedLikeAVmsIsNoneOfRoots) {
  const std::string group = std::string(kAlices) + "/x.libvirt-qemu";
  add(200, group, kAlice, "sh");
  host.begin();
  for (int i = 0; i < 5; ++i) step(0);
  add(201, group, kAlice, "qemu-system-x86", command({"qemu-system-x86_64", "-m", "64"}));
  add_qemu(202, group, kAlice);
  step(0);
  step(0);
  EXPECT_EQ(vm(of(kAlice, kUuid)).owner, kAlice);
  EXPECT_EQ(vm(of(kAlice, "201.201")).owner, kAlice);
}

TEST_F(VmIdentity, TwoHypervisorsInAGuessedScopeAreOneVm) {
  add(200, kScope, 0, "sh");
  host.begin();
  for (int i = 0; i < 5; ++i) step(0);
  EXPECT_TRUE(vm("200.200").running);
  add(201, kScope, 0, "qemu-system-x86", command({"qemu-system-x86_64", "-m", "64"}));
  add_qemu(202, kScope, 0);
  step(0);
  EXPECT_FALSE(vm("200.200").running);
  EXPECT_EQ(host.process(201)->vm->id, host.process(202)->vm->id);
}

TEST_F(VmIdentity, AGuessGivesWayToAHypervisorWithoutAUuid) {
  add(200, kScope, 0, "start-vm", command({"/bin/sh", "/usr/local/bin/start-vm"}));
  host.begin();
  for (int i = 0; i < 5; ++i) step(0);
  host.files.add_process({.pid = 201,
                          .comm = "qemu-system-x86",
                          .ppid = 200,
                          .start = 201,
                          .cgroup = kScope,
                          .cmdline = command({"qemu-system-x86_64", "-name", "guest=by-script"}),
                          .user = 0});
  step(0);
  EXPECT_FALSE(vm("200.200").running);
  EXPECT_EQ(vm("201.201").info->name, "by-script");
  EXPECT_EQ(vm("201.201").info->pid, 201);
}

}  // namespace
}  // namespace keplerd
