// SPDX-License-Identifier: Apache-2.0
#include "workloads/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace keplerd {
namespace {

using Words = std::vector<std::string_view>;
using testing::ElementsAre;

constexpr std::string_view kUuid = "df12672f-fedb-4f6f-9d51-0166868835fb";
constexpr std::string_view kQemu = "/usr/bin/qemu-system-x86_64";

std::string report(const Words& words, std::string_view comm = {}, std::string_view program = {}) {
  const auto found = recognise_vm({.words = words, .comm = comm, .program = program});
  if (!found) return "none";
  std::string reported(hypervisor_name(found->hypervisor));
  if (!found->name.empty()) reported += (found->name_given ? " name=" : " made-up=") + found->name;
  if (!found->uuid.empty()) reported += " uuid=" + found->uuid;
  if (!found->number.empty()) reported += " number=" + found->number;
  if (found->guest_elsewhere) reported += " elsewhere";
  return reported;
}

std::string tell_name(std::string_view value) { return report({kQemu, "-name", value}); }

TEST(Split, TakesOneWordBeforeEachNul) {
  using namespace std::string_view_literals;
  EXPECT_THAT(split_command_line(""), ElementsAre());
  EXPECT_THAT(split_command_line("a\0b\0"sv), ElementsAre("a", "b"));
  EXPECT_THAT(split_command_line("a\0b"sv), ElementsAre("a", "b"));
  EXPECT_THAT(split_command_line("a\0\0b\0\0"sv), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split_command_line("\0"sv), ElementsAre(""));
}

TEST(Split, HasABound) {
  EXPECT_EQ(split_command_line(std::string(1 << 20, '\0')).size(), kMaxCommandLineWords);
  EXPECT_EQ(split_command_line(std::string(1 << 20, 'x')).size(), 1u);
}

TEST(QemuName, InAllItsForms) {
  EXPECT_EQ(tell_name("web"), "kvm name=web");
  EXPECT_EQ(tell_name("web,process=qemu:web"), "kvm name=web");
  EXPECT_EQ(tell_name("guest=web,debug-threads=on"), "kvm name=web");
  EXPECT_EQ(tell_name("debug-threads=on,guest=web"), "kvm name=web");
  EXPECT_EQ(tell_name("process=x"), "kvm");
  EXPECT_EQ(tell_name(""), "kvm");
  EXPECT_EQ(report({kQemu, "--name", "web"}), "kvm name=web");
  EXPECT_EQ(report({kQemu, "--name=web"}), "kvm name=web");
  EXPECT_EQ(report({kQemu, "-name=guest=web,debug-threads=on"}), "kvm name=web");
}

TEST(QemuName, HasADoubledCommaForOne) {
  EXPECT_EQ(tell_name("guest=a,,b,debug-threads=on"), "kvm name=a,b");
  EXPECT_EQ(tell_name("a,,b,debug-threads=on"), "kvm name=a,b");
  EXPECT_EQ(tell_name("a,,guest=b"), "kvm name=a,guest=b");
  EXPECT_EQ(tell_name("guest=a,,,,b,,"), "kvm name=a,,b,");
  EXPECT_EQ(tell_name("guest=a=b"), "kvm name=a=b");
}

TEST(QemuName, IsTheLastOneGiven) {
  EXPECT_EQ(report({kQemu, "-name", "a", "-name", "b"}), "kvm name=b");
  EXPECT_EQ(report({kQemu, "-name", "a", "-name", "debug-threads=on"}), "kvm name=a");
}

TEST(QemuName, IsEscaped) {
  EXPECT_EQ(tell_name("a\x1b[31m\n\xff"), R"(kvm name=a\x1b[31m\x0a\xff)");
  const std::string name(255, 'x');
  EXPECT_EQ(tell_name(name), "kvm name=" + name);
}

TEST(QemuUuid, OfTheOptionOrOfSmbios) {
  const std::string reported = "kvm name=web uuid=" + std::string(kUuid);
  EXPECT_EQ(report({kQemu, "-name", "web", "-uuid", "DF12672F-FEDB-4F6F-9D51-0166868835FB"}), reported);
  EXPECT_EQ(report({kQemu, "-name", "web", "-smbios",
                    "type=1,serial=a,,uuid=b,uuid=df12672f-fedb-4f6f-9d51-0166868835fb"}),
            reported);
  EXPECT_EQ(report({kQemu, "-name", "web", "-smbios", "uuid=df12672f-fedb-4f6f-9d51-0166868835fb,type=1"}),
            reported);
  EXPECT_EQ(report({kQemu, "-name", "web", "-smbios", "type=1,uuid=df12672f-fedb-4f6f-9d51-0166868835fb",
                    "-smbios", "type=0,vendor=x"}),
            reported);
  EXPECT_EQ(report({kQemu, "-name", "web", "-smbios", "type=1,uuid=11111111-2222-3333-4444-555555555555",
                    "-uuid", kUuid}),
            reported);
}

TEST(QemuUuid, IsNoneWhereItIsNotOne) {
  EXPECT_EQ(report({kQemu, "-name", "web", "-uuid", "x"}), "kvm name=web");
  EXPECT_EQ(report({kQemu, "-name", "web", "-uuid", "00000000-0000-0000-0000-000000000000"}), "kvm name=web");
  EXPECT_EQ(report({kQemu, "-name", "web", "-smbios", "type=3,uuid=df12672f-fedb-4f6f-9d51-0166868835fb"}),
            "kvm name=web");
  EXPECT_EQ(report({kQemu, "-name", "web", "-smbios", "type=1,serial=ds=nocloud"}), "kvm name=web");
}

TEST(QemuUuid, MakesANameWhereThereIsNone) {
  EXPECT_EQ(report({kQemu, "-uuid", kUuid}), "kvm made-up=kvm-df12672f uuid=" + std::string(kUuid));
}

TEST(Qemu, OfProxmoxHasANumber) {
  EXPECT_EQ(report({"/usr/bin/kvm", "-id", "109", "-name", "web,debug-threads=on"}, "kvm"),
            "kvm name=web number=109");
  EXPECT_EQ(report({"/usr/bin/kvm", "-id", "x", "-name", "web"}, "kvm"), "kvm name=web");
}

TEST(Qemu, HasTheGivenNumberOfSockets) {
  const auto sockets = [](std::string_view smp) {
    const auto found = recognise_vm({.words = Words{kQemu, "-smp", smp}, .comm = {}, .program = {}});
    return found ? found->cpu_sockets : -1;
  };
  EXPECT_EQ(sockets("8,sockets=2,dies=1,clusters=1,cores=2,threads=2"), 2);  // as libvirt writes it
  EXPECT_EQ(sockets("cpus=4,sockets=4"), 4);
  EXPECT_EQ(sockets("4"), 1);
  for (const std::string_view text :
       {"4,sockets=0", "4,sockets=-1", "4,sockets=65", "4,sockets=x", "sockets"})
    EXPECT_EQ(sockets(text), 1) << text;
  EXPECT_EQ(sockets("64,sockets=64"), 64);
}

std::string size_of(std::vector<std::string_view> words, std::string_view program = kQemu) {
  words.insert(words.begin(), program);
  const auto found = recognise_vm({.words = words, .comm = {}, .program = {}});
  if (!found) return "none";
  const VmSize& size = found->size;
  return (size.vcpus ? std::to_string(*size.vcpus) : "?") + " vCPUs, " +
         (size.memory ? std::to_string(*size.memory) : "?") + " bytes";
}

TEST(Qemu, HasTheGivenSize) {
  EXPECT_EQ(size_of({"-smp", "4,maxcpus=8,sockets=2,cores=4", "-m", "2048"}), "4 vCPUs, 2147483648 bytes");
  EXPECT_EQ(size_of({"-smp", "cpus=3", "-m", "size=1048576k,slots=16,maxmem=8G"}),
            "3 vCPUs, 1073741824 bytes");
  EXPECT_EQ(size_of({"-smp", "sockets=2,cores=3,maxcpus=12", "-m", "2G"}), "6 vCPUs, 2147483648 bytes");
  EXPECT_EQ(size_of({"-m", "slots=16,maxmem=8G"}), "1 vCPUs, ? bytes") << "QEMU's default is one";
  for (const char* const text : {"0", "x", "65537", "cpus=0", "sockets=65536,cores=65536"})
    EXPECT_EQ(size_of({"-smp", text}), "? vCPUs, ? bytes") << text;
  for (const char* const text : {"0", "1.5G", "x", "9999999999999999999", "1048576T", "1X"})
    EXPECT_EQ(size_of({"-m", text}), "1 vCPUs, ? bytes") << text;
}

TEST(OtherHypervisors, HaveTheGivenSize) {
  EXPECT_EQ(size_of({"--cpus", "boot=2,max=4", "--memory", "size=1G,shared=on"}, "cloud-hypervisor"),
            "2 vCPUs, 1073741824 bytes");
  EXPECT_EQ(size_of({"run", "-c", "2", "-m", "512"}, "lkvm"), "2 vCPUs, 536870912 bytes");
  EXPECT_EQ(size_of({"run", "--cpus=3", "--mem=1024"}, "lkvm"), "3 vCPUs, 1073741824 bytes");
  EXPECT_EQ(size_of({"--id", "web"}, "firecracker"), "? vCPUs, ? bytes");
}

TEST(Qemu, IsFoundByItsProgramsName) {
  for (const std::string_view name :
       {"qemu-system-x86_64", "./qemu-system-aarch64", "/usr/libexec/qemu-kvm", "/usr/bin/kvm", "kvm",
        "/opt/kata/bin/qemu-system-x86_64-tdx-experimental"}) {
    EXPECT_EQ(report({name, "-name", "web"}), "kvm name=web") << name;
  }
  EXPECT_EQ(report({kQemu}), "kvm");
}

TEST(Qemu, IsNotEveryProgramCalledSo) {
  for (const std::string_view name :
       {"qemu-img", "qemu-nbd", "qemu-ga", "/usr/bin/qemu-storage-daemon", "/usr/lib/qemu/qemu-bridge-helper",
        "qemu-x86_64", "qemu-aarch64-static", "/etc/libvirt/hooks/qemu", "qemu-system-", "kvm_stat", "kvm-ok",
        "kvmd", "virtqemud", "/usr/bin/qemu-system-x86_64/", ""}) {
    EXPECT_EQ(report({name, "-name", "web"}), "none") << name;
  }
}

TEST(Qemu, InTheArgumentsOfAnotherProgramIsNotAMachine) {
  EXPECT_EQ(report({"grep", "-r", kQemu, "-name", "web"}), "none");
  EXPECT_EQ(report({"/bin/sh", "-c", "qemu-system-x86_64 -name web"}), "none");
  EXPECT_EQ(report({"/bin/sh", "/usr/bin/kvm", "-name", "web"}, "kvm"), "none");
  EXPECT_EQ(report({"python3", "/usr/bin/kvm_stat"}, "kvm_stat"), "none");
  EXPECT_EQ(report({"strace", kQemu, "-name", "web"}), "none");
  EXPECT_EQ(report({}), "none");
}

TEST(Qemu, ThatOnlyPrintsInformationIsNotAMachine) {
  EXPECT_EQ(report({kQemu, "-S", "-no-user-config", "-nodefaults", "-nographic", "-machine",
                    "none,accel=kvm:tcg", "-qmp", "unix:/x,server=on", "-daemonize"}),
            "none");
  EXPECT_EQ(report({kQemu, "-M", "none"}), "none");
  EXPECT_EQ(report({kQemu, "-machine", "accel=kvm,type=none"}), "none");
  EXPECT_EQ(report({kQemu, "-version"}), "none");
  EXPECT_EQ(report({kQemu, "--help"}), "none");
  EXPECT_EQ(report({kQemu, "-cpu", "help"}), "none");
  EXPECT_EQ(report({kQemu, "-device", "virtio-net,help"}), "none");
  EXPECT_EQ(report({kQemu, "-machine", "q35", "-name", "none"}), "kvm name=none");
  EXPECT_EQ(report({kQemu, "-machine", "q35", "-name", "help"}), "kvm name=help");
}

TEST(Qemu, OptionsWithoutAValueAreHarmless) {
  for (const std::string_view option :
       {"-name", "-uuid", "-smbios", "-id", "-machine", "-xen-domid", "-", "--"})
    EXPECT_EQ(report({kQemu, option}), "kvm") << option;
  // As in QEMU: the next word is the value.
  EXPECT_EQ(report({kQemu, "-name", "-uuid", kUuid}), "kvm name=-uuid");
  EXPECT_EQ(report({kQemu, "-append", "-name", "x", "-name", "web"}), "kvm name=web");
  EXPECT_EQ(report({kQemu, "-drive", "-name", "web"}), "kvm name=web");
}

TEST(Comm, HasToAgreeWithTheName) {
  EXPECT_EQ(report({kQemu, "-name", "web"}, "qemu-system-x86"), "kvm name=web");
  EXPECT_EQ(report({"/usr/bin/kvm", "-name", "web"}, "qemu-system-x86"), "kvm name=web");
  EXPECT_EQ(report({kQemu, "-name", "web"}, ".qemu-system-x8"), "kvm name=web");
  EXPECT_EQ(report({kQemu, "-name", "web"}, "bash"), "none");
}

TEST(Comm, MayBeWhatTheCommandLineSays) {
  EXPECT_EQ(report({kQemu, "-name", "web,process=my-very-long-name"}, "my-very-long-na"), "kvm name=web");
  EXPECT_EQ(report({kQemu, "-name", "web,process=a\x1b"}, R"(a\x1b)"), "kvm name=web");
  EXPECT_EQ(report({kQemu, "-name", "web,process=other"}, "bash"), "none");
}

TEST(Comm, DistinguishesQemusTearDownHelper) {
  EXPECT_EQ(report({kQemu, "-name", "web"}, "cleanup/4711"), "none");
  EXPECT_EQ(report({kQemu, "-name", "web"}, "cleanup/4711", kQemu), "none");
}

TEST(Program, DecidesWhereItIsKnown) {
  EXPECT_EQ(report({kQemu, "-name", "web"}, "qemu-system-x86", "/usr/bin/bash"), "none");
  EXPECT_EQ(report({"anything", "-name", "web"}, "anything", kQemu), "kvm name=web");
  EXPECT_EQ(report({"kvm", "-name", "web"}, "kvm", "/usr/bin/qemu-system-x86_64 (deleted)"), "kvm name=web");
  EXPECT_EQ(report({"kvm", "-name", "web"}, "kvm", "/nix/store/x/bin/.qemu-system-x86_64-wrapped"),
            "kvm name=web");
}

TEST(Program, MayBeDeletedUnderItsProcess) {
  EXPECT_EQ(report({"x", "-name", "web"}, "x", "/usr/bin/kvm (deleted)"), "kvm name=web");
  EXPECT_EQ(report({"firecracker", "--id", "web"}, "", "/usr/bin/firecracker (deleted)"),
            "firecracker name=web");
}

TEST(Xen, HasItsGuestElsewhere) {
  const std::string_view program = "/usr/lib/xen/bin/qemu-system-i386";
  EXPECT_EQ(report({program, "-xen-domid", "12", "-name", "web"}), "xen name=web number=12 elsewhere");
  EXPECT_EQ(report({"/usr/lib/xen/bin/qemu-dm", "-d", "3", "-domain-name", "web"}),
            "xen name=web number=3 elsewhere");
  EXPECT_EQ(report({"qemu-dm-7", "-xen-domid", "7", "-name", "web"}, "qemu-dm-7"),
            "xen name=web number=7 elsewhere");
  // The backend of dom0's own disks.
  EXPECT_EQ(report({program, "-xen-domid", "0", "-xen-attach", "-name", "dom0", "-M", "xenpv"}), "none");
}

TEST(VirtualBox, ByCommentAndUuid) {
  const std::string reported = "virtualbox name=win10 uuid=" + std::string(kUuid);
  for (const std::string_view name :
       {"/usr/lib/virtualbox/VirtualBoxVM", "VBoxHeadless", "VirtualBox", "VBoxSDL"}) {
    EXPECT_EQ(report({name, "--comment", "win10", "--startvm", kUuid}), reported) << name;
    EXPECT_EQ(report({name, "-comment", "win10", "-startvm", "{df12672f-fedb-4f6f-9d51-0166868835fb}"}),
              reported)
        << name;
  }
  EXPECT_EQ(report({"VBoxHeadless", "-s", "win10"}), "virtualbox name=win10");
  EXPECT_EQ(report({"VBoxHeadless", "--startvm=win10"}), "virtualbox name=win10");
  EXPECT_EQ(report({"VBoxHeadless", "--startvm", kUuid}),
            "virtualbox made-up=virtualbox-df12672f uuid=" + std::string(kUuid));
  EXPECT_EQ(report({"VirtualBox"}), "none");
  EXPECT_EQ(report({"VBoxSVC", "--startvm", kUuid}), "none");
  EXPECT_EQ(report({"VirtualBoxVM", "--comment", "win10", "--startvm"}), "none");
  // SDL's front end runs a VM, whatever its arguments are.
  EXPECT_EQ(report({"/usr/lib/virtualbox/VBoxSDL", "--comment", "win10"}), "virtualbox name=win10");
  EXPECT_EQ(report({"VBoxSDL"}), "none");
  EXPECT_EQ(report({"VirtualBoxVM", "--comment", "win10"}), "none");
}

TEST(Vmware, ByItsFile) {
  EXPECT_EQ(report({"/usr/lib/vmware/bin/vmware-vmx", "-s", "x=TRUE", "/home/u/My VM/Ubuntu 24.vmx"}),
            "vmware name=Ubuntu 24");
  EXPECT_EQ(report({"vmware-vmx", "-v"}), "none");
  EXPECT_EQ(report({"vmware-vmx", "/x/.vmx"}), "none");
  EXPECT_EQ(report({"vmware", "/x/a.vmx"}), "none");
}

TEST(Firecracker, ByItsId) {
  EXPECT_EQ(report({"firecracker", "--id", "web", "--api-sock", "/x"}), "firecracker name=web");
  EXPECT_EQ(report({"/firecracker-v1.7.0-x86_64", "--id=web"}), "firecracker name=web");
  EXPECT_EQ(report({"firecracker", "--api-sock", "/x"}), "firecracker");
  EXPECT_EQ(report({"firecracker", "--version"}), "none");
  EXPECT_EQ(report({"firecracker-containerd", "--id", "web"}), "none");
  EXPECT_EQ(report({"jailer", "--id", "web", "--exec-file", "/usr/bin/firecracker"}), "none");
}

TEST(CloudHypervisor, ByItsSocket) {
  EXPECT_EQ(report({"cloud-hypervisor", "--api-socket", "/run/ch/web.sock"}), "cloud-hypervisor name=web");
  EXPECT_EQ(report({"cloud-hypervisor-static", "--api-socket", "path=/run/ch/web.socket"}),
            "cloud-hypervisor name=web");
  EXPECT_EQ(report({"cloud-hypervisor", "--api-socket=/run/vc/vm/abc/clh-api.sock"}),
            "cloud-hypervisor name=abc");
  EXPECT_EQ(report({"cloud-hypervisor", "--api-socket", "fd=3"}), "cloud-hypervisor");
  EXPECT_EQ(report({"cloud-hypervisor", "--api-socket", "api.sock"}), "cloud-hypervisor");
  EXPECT_EQ(report({"cloud-hypervisor", "--kernel", "k"}), "cloud-hypervisor");
  EXPECT_EQ(report({"cloud-hypervisor", "--platform",
                    "num_pci_segments=1,uuid=df12672f-fedb-4f6f-9d51-0166868835fb"}),
            "cloud-hypervisor made-up=cloud-hypervisor-df12672f uuid=" + std::string(kUuid));
  EXPECT_EQ(report({"cloud-hypervisor", "--version"}), "none");
}

TEST(Kvmtool, RunsAMachine) {
  EXPECT_EQ(report({"/usr/bin/lkvm", "run", "--name", "web", "-k", "bzImage"}), "kvmtool name=web");
  EXPECT_EQ(report({"lkvm", "run", "-k", "bzImage"}), "kvmtool");
  EXPECT_EQ(report({"lkvm", "stat", "--name", "web"}), "none");
  EXPECT_EQ(report({"lkvm"}), "none");
}

}  // namespace
}  // namespace keplerd
