// SPDX-License-Identifier: Apache-2.0
// The names of running workloads in the reports: from the files of their runtimes, kept when they end.
#include <gtest/gtest.h>

#include "daemon/meter_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

const std::string kId(64, 'c');
const std::string kConfig = "root/var/lib/docker/containers/" + kId + "/config.v2.json";

class Names : public testing::Test {
 protected:
  void add(const std::string& cgroup, const FakeProcess& process = {.pid = 100}) {
    host.files.add_cgroup(cgroup);
    FakeProcess in_it = process;
    in_it.cgroup = cgroup;
    host.files.add_process(in_it);
  }

  MeterHost host;
};

TEST_F(Names, OfADockerContainerIsThereAtOnceAndFollowsARename) {
  host.files.write(kConfig, R"({"ID":"x","Name":"/web"})");
  add("/system.slice/docker-" + kId + ".scope");
  host.begin();
  EXPECT_EQ(host.container(kId)->info->name, "web");
  host.files.write(kConfig, R"({"ID":"x","Name":"/renamed"})");
  host.step(10s);
  EXPECT_EQ(host.container(kId)->info->name, "renamed");
}

TEST_F(Names, ThatComeLaterAreFound) {
  add("/system.slice/docker-" + kId + ".scope");
  host.begin();
  EXPECT_EQ(host.container(kId)->info->name, kId.substr(0, 12));
  host.files.write(kConfig, R"({"Name":"/web"})");
  host.step(1s);
  EXPECT_EQ(host.container(kId)->info->name, "web");
}

TEST_F(Names, StayWhenTheWorkloadHasEndedAndItsFilesAreGone) {
  host.files.write(kConfig, R"({"Name":"/web"})");
  add("/system.slice/docker-" + kId + ".scope");
  host.begin();
  host.files.remove(kConfig);
  host.files.remove_process(100);
  host.files.remove_cgroup("/system.slice/docker-" + kId + ".scope");
  host.step(20s);
  EXPECT_FALSE(host.container(kId)->running);
  EXPECT_EQ(host.container(kId)->info->name, "web");
}

TEST_F(Names, OfPodsAndTheirContainersAreThoseOfKubelet) {
  host.files.write("root/var/log/pods/shop_cart-7d9_1234-5678/cart/0.log", "");
  host.files.write("root/var/log/containers/cart-7d9_shop_cart-" + kId + ".log", "");
  add("/kubepods.slice/kubepods-pod1234_5678.slice/cri-containerd-" + kId + ".scope");
  host.begin();
  EXPECT_EQ(host.pod("1234-5678")->info->name, "cart-7d9");
  EXPECT_EQ(host.pod("1234-5678")->info->name_space, "shop");
  EXPECT_EQ(host.container(kId)->info->name, "cart");
}

TEST_F(Names, OfProxmoxGuestsAreThoseOfTheirConfiguration) {
  host.files.write("root/etc/pve/qemu-server/100.conf", "cores: 2\nname: db1\n");
  host.files.write("root/etc/pve/lxc/101.conf", "hostname: web1\n");
  std::string command;
  for (const char* const word : {"/usr/bin/kvm", "-id", "100"}) (command += word) += '\0';
  add("/qemu.slice/100.scope", {.pid = 100, .comm = "kvm", .start = 7, .cmdline = command});
  add("/lxc/101/ns", {.pid = 101});
  host.begin();
  EXPECT_EQ(host.vm("100.7")->info->name, "db1");
  EXPECT_EQ(host.container("101")->info->name, "web1");
}

// Without -name; each has another UUID.
std::string nameless_qemu(int number) {
  const std::string uuid = "8a5c1f62-0d0e-4b57-9f1e-2c7d3a90b4e" + std::to_string(number);
  std::string command;
  for (const std::string& word : {std::string("/usr/bin/qemu-system-x86_64"), std::string("-uuid"), uuid})
    (command += word) += '\0';
  return command;
}

TEST_F(Names, OfMachinesThatNothingElseNamesAreMachineds) {
  host.files.link("root/run/systemd/machines/unit:vm.service", "web");
  add("/system.slice/vm.service/payload",
      {.pid = 100, .comm = "qemu-system-x86", .cmdline = nameless_qemu(1)});
  host.begin();
  EXPECT_EQ(host.vm("8a5c1f62-0d0e-4b57-9f1e-2c7d3a90b4e1")->info->name, "web");
}

TEST_F(Names, OfMachinesThatShareAUnitAreNotMachineds) {
  host.files.link("root/run/systemd/machines/unit:vms.service", "web");
  add("/system.slice/vms.service", {.pid = 100, .comm = "qemu-system-x86", .cmdline = nameless_qemu(1)});
  add("/system.slice/vms.service", {.pid = 101, .comm = "qemu-system-x86", .cmdline = nameless_qemu(2)});
  host.begin();
  EXPECT_EQ(host.vm("8a5c1f62-0d0e-4b57-9f1e-2c7d3a90b4e1")->info->name, "kvm-8a5c1f62");
}

TEST_F(Names, OfTheCommandLineProxmoxAndTheCgroupGoBeforeMachineds) {
  const auto link = [&](const std::string& unit) {
    host.files.link("root/run/systemd/machines/unit:" + unit, "machined");
  };
  for (const char* unit : {"named.service", "100.scope", "machine-qemu\\x2d1\\x2dweb.scope"}) link(unit);
  host.files.write("root/etc/pve/qemu-server/100.conf", "name: db1\n");
  std::string named = nameless_qemu(1);
  for (const char* const word : {"-name", "by-hand"}) (named += word) += '\0';
  add("/system.slice/named.service", {.pid = 100, .comm = "qemu-system-x86", .cmdline = named});
  add("/qemu.slice/100.scope", {.pid = 101, .comm = "qemu-system-x86", .cmdline = nameless_qemu(2)});
  add("/machine.slice/machine-qemu\\x2d1\\x2dweb.scope",
      {.pid = 102, .comm = "qemu-system-x86", .cmdline = nameless_qemu(3)});
  host.begin();
  EXPECT_EQ(host.vm("8a5c1f62-0d0e-4b57-9f1e-2c7d3a90b4e1")->info->name, "by-hand");
  EXPECT_EQ(host.vm("8a5c1f62-0d0e-4b57-9f1e-2c7d3a90b4e2")->info->name, "db1");
  EXPECT_EQ(host.vm("8a5c1f62-0d0e-4b57-9f1e-2c7d3a90b4e3")->info->name, "web");
}

TEST_F(Names, ThatAreHostileAreEscaped) {
  host.files.write(kConfig, R"({"Name":"/a\u001b[31m\nb"})");
  add("/system.slice/docker-" + kId + ".scope");
  host.begin();
  EXPECT_EQ(host.container(kId)->info->name, "a\\x1b[31m\\x0ab");
}

}  // namespace
}  // namespace keplerd
