// SPDX-License-Identifier: Apache-2.0
// Nobody gets another's name, account or meter by what he calls his cgroups, programs and arguments. For
// root, who alone can write a host of several users.
#include <gtest/gtest.h>
#include <unistd.h>

#include "daemon/access/access.h"
#include "daemon/machine_host.h"
#include "daemon/publish/row_selection.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

constexpr Uid kAlice = 1000, kBob = 1001, kLibvirt = 64055;
constexpr char kCron[] = "/system.slice/cron.service";
constexpr char kAlices[] = "/user.slice/user-1000.slice/user@1000.service/app.slice";
constexpr char kBobs[] = "/user.slice/user-1001.slice/user@1001.service/app.slice";
const std::string kHex(64, 'a'), kInner(64, 'b');
const std::string kDocker = "/system.slice/docker-" + kHex + ".scope";

std::string of(Uid user, const std::string& id) { return "user-" + std::to_string(user) + "/" + id; }

class Identity : public MachineTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can write a host of several users";
    host.files.write("root/etc/passwd", "alice:x:1000:1000::/:/bin/sh\nbob:x:1001:1001::/:/bin/sh\n");
  }
  void add(pid_t pid, const std::string& cgroup, Uid user, const std::string& comm = "task",
           const std::string& command_line = "") {
    host.files.add_cgroup(cgroup);
    host.files.add_process({.pid = pid,
                            .comm = comm,
                            .start = static_cast<std::uint64_t>(pid),
                            .cgroup = cgroup,
                            .cmdline = command_line,
                            .user = user});
  }
  void add_qemu(pid_t pid, const std::string& cgroup, Uid user, const std::string& uuid = kUuid,
                const std::string& name = "forged") {
    add(pid, cgroup, user, "qemu-system-x86", qemu(name, uuid));
  }
  // With the groups that it is in.
  void use_all(pid_t pid, const std::string& cgroup, std::int64_t ticks) {
    host.files.set_process_time(pid, used[pid] += ticks);
    for (std::string path = cgroup; !path.empty(); path.resize(path.rfind('/')))
      host.files.set_cgroup_usage(path, (group_used[path] += ticks) * 10'000);
  }
  void end(pid_t pid, const std::string& cgroup) {
    host.files.remove_process(pid);
    host.files.remove_cgroup(cgroup);
    std::erase_if(group_used, [&](const auto& entry) { return entry.first.starts_with(cgroup); });
  }
  const ContainerRow& container(const std::string& id) {
    const ContainerRow* const row = host.container(id);
    if (row == nullptr) throw std::runtime_error("no container " + id);
    return *row;
  }
  const MachineRow& machine(const std::string& id) {
    const MachineRow* const row = host.machine(id);
    if (row == nullptr) throw std::runtime_error("no VM " + id);
    return *row;
  }
  // All text that this user is shown, of all kinds.
  std::string shown_to(Uid user) {
    Access access(990, std::nullopt);
    access.add(host.meter().last_report());
    const auto report = access.report_for(access.identify(user, {}), Rows::kAll);
    std::string text;
    for (const UnitRow& row : report->units) text += row.info->id + " " + row.info->name + "\n";
    for (const MachineRow& row : report->machines)
      text += row.info->id + " " + row.info->name + " " + row.info->title + "\n";
    for (const auto* const rows : {&report->containers, &report->pods})
      for (const ContainerRow& row : *rows)
        text += row.info->id + " " + row.info->name + " " + row.info->name_space + "\n";
    for (const ProcessRow& row : report->processes) {
      text += row.info->comm + " " + (row.container ? row.container->id : "") + " " +
              (row.machine ? row.machine->id + row.machine->name : "") + "\n";
    }
    if (report->machine_events)
      for (const MachineEvent& event : *report->machine_events) text += event.id + " " + event.name + "\n";
    return text;
  }
  bool is_refused(const std::string& kind, Uid owner) {
    const auto claims = host.meter().last_report()->refused_claims;
    return claims && std::ranges::any_of(*claims, [&](const RefusedClaim& claim) {
             return claim.kind == kind && claim.owner == owner;
           });
  }
};

// 1. A container's id in a cgroup of one's own.

TEST_F(Identity, ACgroupInAUsersSliceIsNoContainerOfRoots) {
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

TEST_F(Identity, OfADelegatedServiceWhoMayMakeCgroupsInItClaims) {
  const std::string service = "/system.slice/alices.service", forged = service + "/docker-" + kHex + ".scope";
  host.files.add_cgroup(service);
  host.files.set_cgroup_owner(service, kAlice);
  add(100, forged, kAlice);
  host.files.set_cgroup_owner(forged, 0);  // which says nothing
  host.begin();
  EXPECT_EQ(container(of(kAlice, kHex)).owner, kAlice);
  EXPECT_EQ(host.unit(service).owner, 0U);
  EXPECT_EQ(host.unit(forged).owner, kAlice);
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

// 2. A VM's UUID in the arguments of one's own program.

TEST_F(Identity, AProgramOfAUsersWithTheUuidOfAStoppedVmIsNotThatVm) {
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
    EXPECT_FALSE(machine(kUuid).running);
    EXPECT_EQ(energy(kUuid), Microjoules{1'000'000});
    EXPECT_EQ(machine(kUuid).info->name, "web");
    EXPECT_EQ(machine(kUuid).owner, 0U);
  }
  EXPECT_EQ(machine(of(kAlice, kUuid)).info->name, "forged");
  EXPECT_EQ(machine(of(kAlice, kUuid)).owner, kAlice);
  EXPECT_EQ(shown_to(kAlice).find("web"), std::string::npos) << shown_to(kAlice);
  EXPECT_EQ(shown_to(kAlice).find("Secret"), std::string::npos) << shown_to(kAlice);

  // The real one goes on.
  group_used.erase(kScope);
  start_in_scope(300, qemu("web", kUuid), 900);
  step(0);
  use(300, kScope, 10);
  step(2'000'000);
  EXPECT_TRUE(machine(kUuid).running);
  EXPECT_EQ(energy(kUuid), Microjoules{2'000'000});
  EXPECT_EQ(machine(kUuid).info->pid, 300);
}

TEST_F(Identity, OfTheSystemsUsersTheFirstHasAnIdUntilRootHasIt) {
  add_qemu(200, "/system.slice/web.service", 33);
  host.begin();
  EXPECT_EQ(machine(kUuid).owner, 33U);
  use_all(200, "/system.slice/web.service", 10);
  step(2'000'000);
  add_qemu(201, "/system.slice/other.service", 34);
  step(0);
  EXPECT_EQ(machine(of(34, kUuid)).owner, 34U);
  EXPECT_TRUE(is_refused("vm", 34));
  start_in_scope(300);
  step(0);
  EXPECT_EQ(machine(kUuid).owner, 0U);
  EXPECT_EQ(machine(kUuid).info->name, "web");
  EXPECT_EQ(energy(kUuid), Microjoules{});
  EXPECT_EQ(machine(of(33, kUuid)).owner, 33U);
  EXPECT_EQ(energy(of(33, kUuid)), Microjoules{1'000'000});
  EXPECT_TRUE(machine(of(33, kUuid)).running);
}

TEST_F(Identity, RootsOwnProgramGivesWayToTheVmThatItClaims) {
  add_qemu(200, kCron, 0);
  host.begin();
  EXPECT_EQ(machine(kUuid).info->pid, 200);
  start_in_scope(300);
  step(0);
  EXPECT_EQ(machine(kUuid).info->pid, 300);
  EXPECT_EQ(machine(kUuid).info->name, "web");
  EXPECT_TRUE(machine("200.200").running);
}

TEST_F(Identity, ASetUserIdProgramClaimsForWhoHasStartedIt) {
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
  EXPECT_EQ(host.machine(kUuid), nullptr);
  EXPECT_EQ(machine(of(kAlice, kUuid)).owner, kAlice);
}

TEST_F(Identity, SudosProgramInAUsersSliceIsRoots) {
  add_qemu(200, "/user.slice/user-1000.slice/session-3.scope", 0, kUuid, "by-sudo");
  host.begin();
  EXPECT_EQ(machine(kUuid).owner, 0U);
  EXPECT_EQ(shown_to(kAlice).find("by-sudo"), std::string::npos);
}

TEST_F(Identity, ARecordIsOfTheProcessThatItWasWrittenFor) {
  host.now.realtime = std::chrono::hours(24 * 365 * 100);  // after the file was written
  write_status("stale", kUuid, 200);
  add_qemu(200, kCron, kAlice);
  host.begin();
  EXPECT_EQ(host.machine(kUuid), nullptr);
  EXPECT_EQ(machine(of(kAlice, kUuid)).info->name, "forged");
}

TEST_F(Identity, ARecordIsBetterThanACommandLine) {
  write_status("web", kUuid, 200);
  add_qemu(200, "/system.slice/libvirtd.service", kLibvirt, kOther);
  host.begin();
  EXPECT_EQ(machine(kUuid).info->name, "web");
  EXPECT_EQ(machine(kUuid).owner, 0U);
  EXPECT_EQ(host.machine(kOther), nullptr);
}

// 3. Helpers.

TEST_F(Identity, AUsersProgramHelpsNoVmOfOthers) {
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
  for (pid = 200; pid < 204; ++pid) EXPECT_EQ(host.process(pid)->machine, nullptr);
  EXPECT_TRUE(is_refused("helper", kAlice));
}

TEST_F(Identity, AHelperMayBeTheVmsOwnUsersOrOneThatLibvirtNames) {
  host.files.add_cgroup(kScope);
  add(100, kScope, kLibvirt, "qemu-system-x86", qemu("web", kUuid));
  const std::string path = std::string("dir=/x/") + kUuid + "/tpm2";
  add(200, kCron, kLibvirt, "swtpm", command({"swtpm", path}));
  add(201, kCron, 110, "swtpm", command({"swtpm", path}));
  add(202, kCron, 110, "swtpm", command({"swtpm", path}));
  host.files.write("root/run/libvirt/qemu/swtpm/1-web-swtpm.pid", "201\n");
  host.begin();
  for (pid_t pid = 200; pid < 203; ++pid) use_all(pid, kCron, 10);
  step(6'000'000);
  EXPECT_EQ(energy(kUuid), Microjoules{2'000'000});
  EXPECT_NE(host.process(201)->machine, nullptr);
  EXPECT_EQ(host.process(202)->machine, nullptr);
}

TEST_F(Identity, RootsHelperIsNotShownToAUserWhoClaimsItsVm) {
  add_qemu(100, kAlices, kAlice);
  add(200, kCron, 0, "swtpm", command({"swtpm", std::string("/x/") + kUuid + "/tpm2"}));
  add(201, kCron, kAlice, "swtpm", command({"swtpm", std::string("/x/") + kUuid + "/tpm2"}));
  host.begin();
  use_all(200, kCron, 10);
  use_all(201, kCron, 10);
  step(4'000'000);
  EXPECT_EQ(energy(of(kAlice, kUuid)), Microjoules{1'000'000}) << "alice's alone";
}

// 4. The crash, and 5. the guess.

TEST_F(Identity, AUsersCgroupThatIsNamedLikeAVmsIsNoneOfRoots) {
  const std::string group = std::string(kAlices) + "/x.libvirt-qemu";
  add(200, group, kAlice, "sh");
  host.begin();
  for (int i = 0; i < 5; ++i) step(0);
  add(201, group, kAlice, "qemu-system-x86", command({"qemu-system-x86_64", "-m", "64"}));
  add_qemu(202, group, kAlice);
  step(0);
  step(0);
  EXPECT_EQ(machine(of(kAlice, kUuid)).owner, kAlice);
  EXPECT_EQ(machine(of(kAlice, "201.201")).owner, kAlice);
}

TEST_F(Identity, TwoHypervisorsInAGuessedScopeAreOneVm) {
  add(200, kScope, 0, "sh");
  host.begin();
  for (int i = 0; i < 5; ++i) step(0);
  EXPECT_TRUE(machine("200.200").running);
  add(201, kScope, 0, "qemu-system-x86", command({"qemu-system-x86_64", "-m", "64"}));
  add_qemu(202, kScope, 0);
  step(0);
  EXPECT_FALSE(machine("200.200").running);
  EXPECT_EQ(host.process(201)->machine->id, host.process(202)->machine->id);
}

TEST_F(Identity, AGuessGivesWayToAHypervisorWithoutAUuid) {
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
  EXPECT_FALSE(machine("200.200").running);
  EXPECT_EQ(machine("201.201").info->name, "by-script");
  EXPECT_EQ(machine("201.201").info->pid, 201);
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
  EXPECT_EQ(machine("300.300").info->name, "secret-vm");
  EXPECT_EQ(container("101").info->name, "secret-ct");
  for (const Uid user : {kAlice, kBob})
    EXPECT_EQ(shown_to(user).find("secret"), std::string::npos) << shown_to(user);
  for (const MachineRow& row : host.meter().last_report()->machines)
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

// 7. Found.

TEST_F(Identity, AnNspawnContainerThatKeepsItsServiceIsFoundByMachined) {
  const std::string service = "/system.slice/nsp.service";
  add(100, service + "/payload", 524'288);
  host.begin();
  EXPECT_TRUE(host.meter().last_report()->containers.empty());
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

TEST_F(Identity, MachinedNamesNoUnitOfAUsers) {
  const std::string service = std::string(kAlices) + "/nsp.service";
  add(100, service, kAlice);
  host.files.write("root/run/systemd/machines/box",
                   "NAME=box\nSCOPE=nsp.service\nSERVICE=systemd-nspawn\nCLASS=container\n");
  host.begin();
  step(0);
  EXPECT_TRUE(host.meter().last_report()->containers.empty());
}

// Who is who in containers.

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
  EXPECT_EQ(machine(std::string("two/") + kUuid).owner, 0U);
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
  EXPECT_EQ(machine(kUuid).info->pid, 300);
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

TEST_F(Identity, AProcessOfAnIdThatNobodysLoginOwnsIsItsOwnUsers) {
  add(100, kCron, 300'000);
  host.begin();
  EXPECT_EQ(host.process(100)->owner, 300'000U);
  add_qemu(101, kCron, 300'000);
  step(0);
  EXPECT_EQ(machine(of(300'000, kUuid)).owner, 300'000U);
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
  EXPECT_EQ(machine(kUuid).owner, 0U);
  EXPECT_EQ(host.meter().last_report()->containers.size(), 2u);
  EXPECT_EQ(host.meter().last_report()->machines.size(), 2u);
}

TEST_F(Identity, AnIdIsFoundBareWhereOnlyOneHasIt) {
  add(200, std::string(kAlices) + "/docker-" + kHex + ".scope", kAlice);
  host.begin();
  const auto find = [&] { return find_row(*host.meter().last_report(), RowKind::kContainers, kHex); };
  EXPECT_TRUE(find().index);
  add(201, std::string(kBobs) + "/docker-" + kHex + ".scope", kBob);
  step(0);
  EXPECT_FALSE(find().index);
  EXPECT_EQ(find().ids, (std::vector<std::string>{of(kAlice, kHex), of(kBob, kHex)}));
  add(100, kDocker, 0);
  step(0);
  EXPECT_EQ(host.meter().last_report()->containers[find().index.value()].info->id, kHex);
}

TEST_F(Identity, EndedOnesOfAUserDriveOutNobodyElses) {
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
  EXPECT_NE(host.machine(kUuid), nullptr);
  EXPECT_EQ(host.meter().last_report()->machines.size(), 3u);
}

}  // namespace
}  // namespace keplerd
