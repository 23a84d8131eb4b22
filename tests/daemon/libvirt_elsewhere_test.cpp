// SPDX-License-Identifier: Apache-2.0
// libvirt's information on domains other than those of the system's QEMU driver: VMs of users' session
// libvirts, and LXC.
#include <unistd.h>

#include "daemon/vm_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

std::string domain_status(const std::string& name, pid_t pid, const std::string& domain = "",
                          const std::string& uuid = kUuid) {
  return "<domstatus state='running' pid='" + std::to_string(pid) + "'><domain><name>" + name +
         "</name><uuid>" + uuid + "</uuid>" + domain + "</domain></domstatus>";
}

constexpr char kSession[] = "/user.slice/user-4711.slice/user@4711.service/app.slice/vm.scope";

class LibvirtSession : public VmTest {
 protected:
  void start(const std::string& user) {
    host.files.add_cgroup(kSession);
    host.files.add_process(
        {.pid = 100, .comm = "qemu-system-x86", .cgroup = kSession, .cmdline = qemu("web", kUuid)});
    host.files.write("proc/100/status", "Uid:\t0\t" + user + "\t0\t0\n");
  }
  void report(const std::string& user, const std::string& text, const std::string& name = "web") {
    host.files.write("root/run/user/" + user + "/libvirt/qemu/run/" + name + ".xml", text);
  }
  const VmInfo& info() { return *host.vm(id)->info; }

  // For an ordinary user, all processes are the user's own.
  const std::string joe = ::geteuid() == 0 ? "4711" : std::to_string(::geteuid());
  const std::string id = "user-" + joe + "/" + kUuid;
};

TEST_F(LibvirtSession, NamesItsUsersMachines) {
  start(joe);
  report(joe, domain_status("mine", 100, "<title>Joe's own</title>"));
  host.begin();
  EXPECT_EQ(info().name, "mine");
  EXPECT_EQ(info().title, "Joe's own");
  EXPECT_EQ(info().guest_state, "running");
  report(joe, domain_status("renamed", 100));
  host.step(1s);
  EXPECT_EQ(info().name, "renamed");
}

TEST_F(LibvirtSession, DoesNotNameOtherUsersMachines) {
  if (::geteuid() != 0) GTEST_SKIP() << "all processes are one's own";
  start(joe);
  report(joe, domain_status("mine", 100));
  host.files.add_process({.pid = 101, .comm = "qemu-system-x86", .cmdline = qemu("eves", kOther)});
  host.files.write("proc/101/status", "Uid:\t0\t4712\t0\t0\n");
  report(joe, domain_status("stolen", 101, "", kOther), "stolen");
  host.begin();
  EXPECT_EQ(info().name, "mine");
  const VmInfo& eves = *host.vm(std::string("user-4712/") + kOther)->info;
  EXPECT_EQ(eves.name, "eves");
  EXPECT_EQ(eves.guest_state, "");
}

TEST_F(LibvirtSession, DoesNotNameTheSystemsMachines) {
  start(joe);
  report(joe, domain_status("mine", 100));
  write_status("systems", kUuid, 100);
  host.begin();
  EXPECT_EQ(host.vm(kUuid)->info->name, "systems");
  EXPECT_EQ(host.vm(kUuid)->owner, 0U);
  EXPECT_EQ(host.vm(id), nullptr);
}

TEST_F(LibvirtSession, CannotAskForAMeter) {
  start(joe);
  report(joe,
         domain_status("mine", 100,
                       "<metadata><k:guest xmlns:k='https://keplerd.org/libvirt/1' meter='yes'/>"
                       "<k:instance xmlns:k='http://openstack.org/xmlns/libvirt/nova/1.1'><k:name>n</k:name>"
                       "</k:instance></metadata>"));
  host.begin();
  EXPECT_EQ(info().metadata, (VmMetadata{{"openstack.name", "n"}}));
}

TEST_F(LibvirtSession, IsNotReadThroughALink) {
  start(joe);
  host.files.write("root/elsewhere/qemu/run/web.xml", domain_status("linked", 100));
  host.files.write("root/run/user/" + joe + "/bus", "");
  host.files.link("root/run/user/" + joe + "/libvirt", host.files.paths().root + "/elsewhere");
  host.begin();
  EXPECT_EQ(info().name, "web");
}

TEST_F(LibvirtSession, IsReadUpToItsLimits) {
  start(joe);
  report(joe, domain_status("big", 100) + std::string(128 << 10, '\n'), "big");
  host.begin();
  EXPECT_EQ(info().name, "web");
}

TEST_F(LibvirtSession, NeedsNoHelperAndDoesNotWaitForReasons) {
  start(joe);
  report(joe, domain_status("mine", 100));
  host.begin();
  EXPECT_EQ(host.meter().libvirt_drivers(), std::vector<std::string>{});
  host.meter().set_libvirt_connected(true);
  host.files.remove_process(100);
  host.files.remove_cgroup(kSession);
  step(0);
  EXPECT_EQ(events(), (Events{"1 mine stopped"}));
}

constexpr char kBox[] = "/machine.slice/machine-lxc\\x2d4321\\x2dbox.scope";

class LibvirtLxc : public VmTest {
 protected:
  void start(const std::string& comm = "libvirt_lxc") {
    host.files.add_cgroup(kBox);
    host.files.add_process({.pid = 4321, .comm = comm, .cgroup = kBox});
    host.files.add_process({.pid = 4322, .comm = "init", .cgroup = kBox});
  }
  void report(const std::string& text) { host.files.write("root/run/libvirt/lxc/box.xml", text); }
  const ContainerInfo& info() { return *host.container("box")->info; }
};

TEST_F(LibvirtLxc, GivesAContainerNameUuidTitleAndState) {
  start();
  report(domain_status("box-of-joe", 4321, "<title>Joe's</title>"));
  host.begin();
  EXPECT_EQ(info().name, "box-of-joe");
  EXPECT_EQ(info().uuid, kUuid);
  EXPECT_EQ(info().title, "Joe's");
  EXPECT_EQ(info().guest_state, "running");
  EXPECT_EQ(host.meter().report()->vms.size(), 0u);
}

TEST_F(LibvirtLxc, AllButTheStateIsKeptWhenTheContainerEnds) {
  start();
  report(domain_status("box-of-joe", 4321, "<title>Joe's</title>"));
  host.begin();
  for (const pid_t pid : {4321, 4322}) host.files.remove_process(pid);
  host.files.remove_cgroup(kBox);
  host.step(1s);
  EXPECT_FALSE(host.container("box")->running);
  EXPECT_EQ(info().name, "box-of-joe");
  EXPECT_EQ(info().uuid, kUuid);
  EXPECT_EQ(info().title, "Joe's");
  EXPECT_EQ(info().guest_state, "");
}

TEST_F(LibvirtLxc, AStatusOfAnotherProcessIsStale) {
  start("other");
  report(domain_status("stale", 4321));
  host.begin();
  EXPECT_EQ(info().name, "box");
  EXPECT_EQ(info().uuid, "");
}

TEST_F(LibvirtLxc, KnowsOtherContainersNot) {
  host.files.add_cgroup("/lxc.payload.box");
  host.files.add_process({.pid = 4321, .comm = "systemd", .cgroup = "/lxc.payload.box"});
  report(domain_status("other", 4321));
  host.begin();
  EXPECT_EQ(info().name, "box");
}

}  // namespace
}  // namespace keplerd
