// SPDX-License-Identifier: Apache-2.0
#include "workloads/cgroup_workload.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace keplerd {
namespace {

const std::string kId = "fd9d0ea06257a9780827cbc7fd92e3812a54fca26d63e191b73610d5d48b9cbd";
const std::string kOther = "99f3a16ea25b7724cb56a4f0c0df1113ad9474fbf5545bead97fd5c7f61c13f4";
const std::string kUid = "eab5a334-93fe-48a8-b139-9e8079c1f163";
const std::string kUidInSlice = "eab5a334_93fe_48a8_b139_9e8079c1f163";

// One word for the kind, then the known details.
std::string report(const CgroupWorkload& workload) {
  const auto with = [](std::string_view key, std::string_view value) {
    return value.empty() ? std::string() : " " + std::string(key) + "=" + std::string(value);
  };
  switch (workload.kind) {
    case CgroupKind::kGroup:
      return "group" + with("name", workload.name);
    case CgroupKind::kUnit:
      return "unit" + with("name", workload.name);
    case CgroupKind::kContainer:
      return std::string(workload.monitor ? "monitor" : "container") + with("runtime", workload.runtime) +
             with("id", workload.id) + with("name", workload.name) + with("pod", workload.pod);
    case CgroupKind::kPod:
      return "pod" + with("runtime", workload.runtime) + with("id", workload.id);
    case CgroupKind::kVirtualMachine:
      return "vm" + with("hypervisor", hypervisor_name(*workload.hypervisor)) +
             with("number", workload.vm_number) + with("name", workload.name);
  }
  return {};
}

std::string report(std::string_view path) { return report(recognise_cgroup(path)); }

std::vector<std::string> chain(std::string_view path) {
  std::vector<std::string> reported;
  for (const EnclosingWorkload& entry : enclosing_workloads(path))
    reported.push_back(std::string(entry.path) + ": " + report(entry.workload));
  return reported;
}

struct Case {
  std::string path;
  std::string reported;
};

void expect_all(const std::vector<Case>& cases) {
  for (const Case& c : cases) EXPECT_EQ(report(c.path), c.reported) << c.path;
}

TEST(Cgroup, OfSystemdIsAUnitAsSystemctlShowsIt) {
  expect_all(
      {{"/system.slice", "unit name=system.slice"},
       {"/init.scope", "unit name=init.scope"},
       {"/system.slice/cron.service", "unit name=cron.service"},
       {"/system.slice/system-getty.slice/getty@tty1.service", "unit name=getty@tty1.service"},
       {R"(/system.slice/system-systemd\x2dcryptsetup.slice)",
        R"(unit name=system-systemd\x2dcryptsetup.slice)"},
       {R"(/system.slice/dev-disk-by\x2dlabel-swap.swap)", R"(unit name=dev-disk-by\x2dlabel-swap.swap)"},
       {"/user.slice/user-1000.slice/session-3.scope", "unit name=session-3.scope"},
       {"/system.slice/_cpu.service", "unit name=cpu.service"},
       {"/system.slice/docker.service", "unit name=docker.service"},
       {"/system.slice/docker-compose.service", "unit name=docker-compose.service"},
       {"/system.slice/containerd.service", "unit name=containerd.service"},
       // podman's health checks are named after the container, but are not part of it.
       {"/system.slice/" + kId + ".service", "unit name=" + kId + ".service"}});
}

TEST(Cgroup, ThatSomebodyMadeIsAGroup) {
  expect_all({{"/", "group name=/"},
              {"", "group name=/"},
              {"/docker", "group name=docker"},
              {"/lxc", "group name=lxc"},
              {"/lxc.pivot", "group name=lxc.pivot"},
              {"/lxc.monitor", "group name=lxc.monitor"},
              {"/lxc.payload.", "group name=lxc.payload."},
              {"/kubepods/besteffort", "group name=besteffort"},
              {"/system.slice/foo.service/supervisor", "group name=supervisor"},
              {"/podracing", "group name=podracing"},
              {"/docker-" + kId.substr(1), "group name=docker-" + kId.substr(1)},
              {"/docker-" + kId + "0", "group name=docker-" + kId + "0"}});
}

TEST(Container, OfEachRuntime) {
  expect_all({{"/system.slice/docker-" + kId + ".scope", "container runtime=docker id=" + kId},
              {"/user.slice/user-1000.slice/user@1000.service/user.slice/docker-" + kId + ".scope",
               "container runtime=docker id=" + kId},
              {"/docker/" + kId, "container runtime=docker id=" + kId},
              {"/machine.slice/libpod-" + kId + ".scope", "container runtime=podman id=" + kId},
              {"/libpod_parent/libpod-" + kId, "container runtime=podman id=" + kId},
              {"/system.slice/web.service/libpod-payload-" + kId, "container runtime=podman id=" + kId},
              {"/system.slice/nerdctl-" + kId + ".scope", "container runtime=containerd id=" + kId},
              {"/default/" + kId, "container runtime=containerd id=" + kId},
              {"/k8s.io/" + kId, "container runtime=containerd id=" + kId},
              {"/system.slice/crio-" + kId + ".scope", "container runtime=crio id=" + kId},
              {"/some/parent/" + kId, "container runtime=unknown id=" + kId},
              {"/ecs/55091c13-b8cf-4801-b527-f4601742204d/" + kId, "container runtime=ecs id=" + kId},
              {"/ecs/34dc0b5e626f2c5c4c5170e34b10e765-1234567890",
               "container runtime=ecs id=34dc0b5e626f2c5c4c5170e34b10e765-1234567890"},
              {"/ecstasks.slice/ecstasks-34dc0b5e626f2c5c4c5170e34b10e765.slice/docker-" + kId + ".scope",
               "container runtime=docker id=" + kId},
              {"/nomad.slice/share.slice/" + kUid + ".web.scope",
               "container runtime=nomad id=" + kUid + ".web name=web"},
              {"/elsewhere.slice/" + kUid + ".web.scope", "unit name=" + kUid + ".web.scope"}});
}

TEST(Container, IsNotWhatWatchesOverIt) {
  expect_all({{"/machine.slice/libpod-conmon-" + kId + ".scope", "monitor runtime=podman id=" + kId},
              {"/system.slice/crio-conmon-" + kId + ".scope", "monitor runtime=crio id=" + kId},
              {"/lxc.monitor.web01", "monitor runtime=lxc id=web01 name=web01"},
              {"/lxc.monitor/101", "monitor runtime=lxc id=101 name=101"}});
}

TEST(Container, IsItsTopmostCgroupOnly) {
  expect_all({{"/machine.slice/libpod-" + kId + ".scope/container", "group name=container"},
              {"/docker/" + kId + "/init", "group name=init"},
              {"/lxc/101/ns", "group name=ns"},
              {"/lxc/lxc/ns", "group name=ns"},
              {"/lxc.payload.web01/init.scope", "unit name=init.scope"},
              {"/machine.slice/systemd-nspawn@f40.service/payload", "group name=payload"}});
  EXPECT_EQ(chain("/machine.slice/libpod-" + kId + ".scope/container"),
            std::vector{"/machine.slice/libpod-" + kId + ".scope: container runtime=podman id=" + kId});
}

TEST(Container, OfLxcInAllItsFolders) {
  expect_all(
      {{"/lxc.payload.web01", "container runtime=lxc id=web01 name=web01"},
       {"/lxc.payload.my.site.service", "container runtime=lxc id=my.site.service name=my.site.service"},
       {"/lxc.payload/web01", "container runtime=lxc id=web01 name=web01"},
       {"/lxc/101", "container runtime=lxc id=101 name=101"},
       {"/user.slice/user-1000.slice/user@1000.service/app.slice/lxc-1.scope/lxc.payload.own",
        "container runtime=lxc id=own name=own"},
       {"/lxc/init.scope", "unit name=init.scope"},
       {R"(/machine.slice/machine-lxc\x2d4321\x2dweb.scope)", "container runtime=lxc id=web name=web"},
       {"/machine/lxc-4321-web.libvirt-lxc", "container runtime=lxc id=web name=web"}});
}

TEST(Container, OfNspawnIsNamedByItsInstance) {
  expect_all(
      {{"/machine.slice/systemd-nspawn@f40.service", "container runtime=nspawn id=f40 name=f40"},
       {"/machine.slice/systemd-nspawn@my-web.service", "container runtime=nspawn id=my-web name=my-web"},
       {R"(/machine.slice/machine-my\x2dweb.scope)", "container runtime=nspawn id=my-web name=my-web"},
       {R"(/machine.slice/my\x2dweb.scope/payload)", "container runtime=nspawn id=my-web name=my-web"},
       {"/machine.slice/web.scope", "unit name=web.scope"},
       {"/machine.slice/web.scope/container", "group name=container"},
       {"/system.slice/web.scope/payload", "group name=payload"},
       {"/machine.slice/web.service/payload", "group name=payload"},
       {"/machine.slice/systemd-nspawn@.service", "unit name=systemd-nspawn@.service"},
       {"/machine.slice/machine-.scope", "unit name=machine-.scope"}});
  EXPECT_EQ(recognise_cgroup("/machine.slice/systemd-nspawn@f40.service").group.name,
            "systemd-nspawn@f40.service");
}

// "a/b" is the id of "b" inside "a", so no machine may have that name.
TEST(Container, HasNoSlashInItsName) {
  expect_all(
      {{R"(/machine.slice/machine-a\x2fb.scope)", R"(unit name=machine-a\x2fb.scope)"},
       {R"(/machine.slice/machine-lxc\x2d1\x2da\x2fb.scope)",
        R"(unit name=machine-lxc\x2d1\x2da\x2fb.scope)"},
       {R"(/machine.slice/systemd-nspawn@a\x2fb.service)", R"(unit name=systemd-nspawn@a\x2fb.service)"},
       {R"(/machine.slice/systemd-vmspawn@a\x2fb.service)", R"(unit name=systemd-vmspawn@a\x2fb.service)"},
       {R"(/machine.slice/a\x2fb.scope/payload)", "group name=payload"}});
}

TEST(Pod, OfBothDrivers) {
  const std::string reported = "pod runtime=kubernetes id=" + kUid;
  expect_all(
      {{"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" + kUidInSlice + ".slice",
        reported},
       {"/kubepods.slice/kubepods-pod" + kUidInSlice + ".slice", reported},
       {"/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" + kUidInSlice + ".slice", reported},
       {"/kubepods/besteffort/pod" + kUid, reported},
       {"/kubepods/pod" + kUid, reported},
       {"/kubelet/kubepods/burstable/pod" + kUid, reported},
       // A static pod's UID is a hash.
       {"/kubepods/burstable/podd3b07384d113edec49eaa6238ad5ff00",
        "pod runtime=kubernetes id=d3b07384d113edec49eaa6238ad5ff00"},
       {"/kubepods.slice/kubepods-burstable.slice", "unit name=kubepods-burstable.slice"},
       {"/kubepods.slice/kubepods-pod.slice", "unit name=kubepods-pod.slice"},
       {"/kubepods/podx\\x1b", "group name=podx\\x1b"},
       {"/besteffort/pod" + kUid, "group name=pod" + kUid}});
}

TEST(Pod, IsKnownToItsContainers) {
  const std::string slice = "/kubepods.slice/kubepods-pod" + kUidInSlice + ".slice";
  expect_all(
      {{slice + "/cri-containerd-" + kId + ".scope",
        "container runtime=containerd id=" + kId + " pod=" + kUid},
       {slice + "/crio-conmon-" + kId + ".scope", "monitor runtime=crio id=" + kId + " pod=" + kUid},
       {"/kubepods/burstable/pod" + kUid + "/" + kId,
        "container runtime=kubernetes id=" + kId + " pod=" + kUid},
       {"/kubepods/burstable/pod" + kUid + "/crio-" + kId,
        "container runtime=crio id=" + kId + " pod=" + kUid},
       // containerd with its own cgroup manager below systemd's paths.
       {"/system.slice/containerd.service/kubepods-burstable-pod" + kUidInSlice +
            ".slice:cri-containerd:" + kId,
        "container runtime=containerd id=" + kId + " pod=" + kUid},
       {"/system.slice/docker.service/system.slice:docker:" + kId, "container runtime=docker id=" + kId}});
  // A container in a container in a pod does not belong to the pod.
  EXPECT_EQ(report(slice + "/cri-containerd-" + kId + ".scope/docker/" + kOther),
            "container runtime=docker id=" + kOther);
}

TEST(Pod, OfPodman) {
  expect_all({{"/machine.slice/machine-libpod_pod_" + kId + ".slice", "pod runtime=podman id=" + kId},
              {"/user.slice/user-1000.slice/user@1000.service/user.slice/user-libpod_pod_" + kId +
                   ".slice/libpod-" + kOther + ".scope",
               "container runtime=podman id=" + kOther + " pod=" + kId},
              {"/libpod_parent/" + kId, "pod runtime=podman id=" + kId},
              {"/libpod_parent/" + kId + "/libpod-" + kOther,
               "container runtime=podman id=" + kOther + " pod=" + kId}});
}

TEST(Vm, OfLibvirtByItsScope) {
  expect_all(
      {{R"(/machine.slice/machine-qemu\x2d6\x2dcirros.scope)", "vm hypervisor=kvm number=6 name=cirros"},
       {R"(/machine.slice/machine-qemu\x2d12\x2dmy\x2dweb\x2d01.scope)",
        "vm hypervisor=kvm number=12 name=my-web-01"},
       {R"(/machine.slice/machine-qemu\x2d3\x2d2022\x2ddc.scope)", "vm hypervisor=kvm number=3 name=2022-dc"},
       {R"(/machine.slice/machine-qemu\x2d6\x2da.b.scope)", "vm hypervisor=kvm number=6 name=a.b"},
       {R"(/machine.slice/machine-qemu\x2dalice\x2d6\x2dweb.scope)", "vm hypervisor=kvm number=6 name=web"},
       {R"(/machine.slice/machine-qemu\x2dembed\x2d01234567\x2d6\x2dweb.scope)",
        "vm hypervisor=kvm number=6 name=web"},
       {R"(/machine.slice/machine-qemu\x2d6.scope)", "vm hypervisor=kvm number=6"},
       {R"(/machine.slice/machine-qemu\x2dold.scope)", "vm hypervisor=kvm name=old"},
       {R"(/machine.slice/machine-ch\x2d1\x2dweb.scope)", "vm hypervisor=cloud-hypervisor number=1 name=web"},
       {R"(/machine.slice/machine-ch\x2dweb.scope)", "container runtime=nspawn id=ch-web name=ch-web"},
       {"/machine/qemu-6-cirros.libvirt-qemu", "vm hypervisor=kvm number=6 name=cirros"},
       {"/machine/cirros.libvirt-qemu", "vm hypervisor=kvm name=cirros"},
       {"/machine.slice/systemd-vmspawn@f40.service", "vm hypervisor=kvm name=f40"}});
}

TEST(Vm, OfLibvirtHasANameThatMayBeShortened) {
  EXPECT_FALSE(recognise_cgroup(R"(/machine.slice/machine-qemu\x2d6\x2dcirros.scope)").name_exact);
  EXPECT_TRUE(recognise_cgroup("/machine.slice/systemd-nspawn@f40.service").name_exact);
}

TEST(Vm, HasItsThreadsBelow) {
  const std::string scope = R"(/machine.slice/machine-qemu\x2d6\x2dcirros.scope)";
  EXPECT_EQ(report(scope + "/libvirt/vcpu0"), "group name=vcpu0");
  EXPECT_EQ(chain(scope + "/libvirt/vcpu0"), std::vector{scope + ": vm hypervisor=kvm number=6 name=cirros"});
}

TEST(Vm, OfProxmox) {
  expect_all({{"/qemu.slice/109.scope", "vm hypervisor=kvm number=109"},
              {"/qemu.slice/web.scope", "unit name=web.scope"},
              {"/system.slice/109.scope", "unit name=109.scope"}});
}

TEST(Enclosing, GoesFromTheOutermostToTheInnermost) {
  const std::string kind = "/system.slice/docker-" + kId + ".scope";
  const std::string pod =
      kind + "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" + kUidInSlice + ".slice";
  const std::string inner = pod + "/cri-containerd-" + kOther + ".scope";
  EXPECT_EQ(
      chain(inner + "/system.slice/nginx.service"),
      (std::vector{kind + ": container runtime=docker id=" + kId, pod + ": pod runtime=kubernetes id=" + kUid,
                   inner + ": container runtime=containerd id=" + kOther + " pod=" + kUid}));
}

TEST(Enclosing, IsEmptyOutsideOfAll) {
  EXPECT_EQ(chain("/system.slice/cron.service"), std::vector<std::string>{});
  EXPECT_EQ(chain("/"), std::vector<std::string>{});
}

TEST(Enclosing, HasAMachineInAContainer) {
  const std::string scope = "/machine.slice/libpod-" + kId + ".scope";
  const std::string vm = scope + R"(/machine.slice/machine-qemu\x2d1\x2dweb.scope)";
  EXPECT_EQ(chain(vm), (std::vector{scope + ": container runtime=podman id=" + kId,
                                    vm + ": vm hypervisor=kvm number=1 name=web"}));
}

TEST(Enclosing, HasPodmanInPodman) {
  const std::string outer =
      "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + kId + ".scope";
  const std::string inner = outer + "/container/libpod_parent/libpod-" + kOther;
  EXPECT_EQ(chain(inner + "/container"), (std::vector{outer + ": container runtime=podman id=" + kId,
                                                      inner + ": container runtime=podman id=" + kOther}));
}

TEST(Line, OfEitherHierarchyIsAPathToo) {
  expect_all({{"0::/docker/" + kId, "container runtime=docker id=" + kId},
              {"13:hugetlb:/docker/" + kId, "container runtime=docker id=" + kId},
              {"4:cpu,cpuacct:/docker/" + kId, "container runtime=docker id=" + kId},
              {"1:name=systemd:/system.slice/cron.service", "unit name=cron.service"},
              {"0::/", "group name=/"},
              {"/sys/fs/cgroup/unified/system.slice/cron.service", "unit name=cron.service"},
              {"/0::x", "group name=0::x"}});
}

TEST(HostileName, IsNeverRaw) {
  expect_all({{escape_name("/lxc.payload.a\x1b[31m"), R"(container runtime=lxc id=a\x1b[31m name=a\x1b[31m)"},
              {escape_name(R"(/machine.slice/machine-qemu\x2d6\x2d\x1b[31m\x0a.scope)"),
               R"(vm hypervisor=kvm number=6 name=\x1b[31m\x0a)"},
              {escape_name("/system.slice/a\nb.service"), R"(unit name=a\x0ab.service)"},
              {escape_name("/lxc/\xff"), R"(container runtime=lxc id=\xff name=\xff)"}});
  const std::string longest(255, 'x');
  EXPECT_EQ(report("/lxc/" + longest), "container runtime=lxc id=" + longest + " name=" + longest);
}

}  // namespace
}  // namespace keplerd
