// SPDX-License-Identifier: Apache-2.0
#include "workloads/cgroup_name.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/parse.h"
#include "workloads/identifier.h"

namespace keplerd {
namespace {

// Takes `prefix` off the front; false, and nothing taken, where it is not there.
bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool take_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

// What stands between; empty where there is nothing, or one of them is not there.
std::string_view between(std::string_view prefix, std::string_view text, std::string_view suffix) {
  return take_prefix(text, prefix) && take_suffix(text, suffix) ? text : std::string_view();
}

CgroupWorkload container(std::string_view runtime, std::string_view id, std::string_view name = {}) {
  CgroupWorkload workload;
  workload.kind = CgroupKind::kContainer;
  workload.runtime = runtime;
  workload.id = id;
  workload.name = name;
  return workload;
}

CgroupWorkload monitor_of(CgroupWorkload workload) {
  workload.monitor = true;
  return workload;
}

CgroupWorkload pod(std::string_view runtime, std::string uid) {
  CgroupWorkload workload;
  workload.kind = CgroupKind::kPod;
  workload.runtime = runtime;
  workload.id = std::move(uid);
  return workload;
}

CgroupWorkload vm(Hypervisor hypervisor, std::string_view number, std::string_view name) {
  CgroupWorkload workload;
  workload.kind = CgroupKind::kVirtualMachine;
  workload.hypervisor = hypervisor;
  workload.vm_number = number;
  workload.name = name;
  return workload;
}

using Answer = std::optional<CgroupWorkload>;

// "docker-ID.scope", "libpod-conmon-ID.scope", "crio-ID"; in the colon form "cri-containerd:ID" too.
Answer runtime_scope(std::string_view name) {
  struct Prefix {
    std::string_view text;
    std::string_view runtime;
    bool monitor = false;
  };
  static constexpr std::array<Prefix, 9> kPrefixes = {{{"docker", "docker"},
                                                       {"libpod", "podman"},
                                                       {"libpod-payload", "podman"},
                                                       {"libpod-conmon", "podman", true},
                                                       {"cri-containerd", "containerd"},
                                                       {"containerd", "containerd"},
                                                       {"nerdctl", "containerd"},
                                                       {"crio", "crio"},
                                                       {"crio-conmon", "crio", true}}};
  take_suffix(name, ".scope");
  for (const Prefix& prefix : kPrefixes) {
    std::string_view id = name;
    if (!take_prefix(id, prefix.text) || !(take_prefix(id, "-") || take_prefix(id, ":"))) continue;
    if (!is_runtime_id(id)) continue;
    CgroupWorkload found = container(prefix.runtime, id);
    return prefix.monitor ? monitor_of(std::move(found)) : found;
  }
  return std::nullopt;
}

// "/docker/ID", "/kubepods/burstable/podUID/ID": cgroup managers that use no systemd. A name of 64
// hexadecimal digits is a container's wherever it is.
Answer bare_id(const AboveCgroup& above, std::string_view name) {
  const bool fargate = above.in_ecs && name.size() > 33 && name[32] == '-' &&
                       is_hexadecimal(name.substr(0, 32)) && is_digits(name.substr(33));
  if (fargate) return container("ecs", name);
  if (!is_runtime_id(name)) return std::nullopt;
  if (above.parent == "libpod_parent") return pod("podman", std::string(name));
  if (above.parent == "docker") return container("docker", name);
  if (above.pod_is_here) return container("kubernetes", name);
  if (above.in_ecs) return container("ecs", name);
  static constexpr std::array<std::string_view, 4> kContainerd = {"containerd", "default", "k8s.io", "moby"};
  const bool containerd = std::ranges::find(kContainerd, above.parent) != kContainerd.end();
  return container(containerd ? "containerd" : "unknown", name);
}

bool is_qos(std::string_view name) { return name == "besteffort" || name == "burstable"; }

// A UID where it has nothing else than letters, digits, "-" and (in a slice, for "-") "_"; else empty.
std::string pod_uid(std::string_view text, char dash) {
  const bool plain = std::ranges::all_of(text, [dash](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == dash;
  });
  std::string uid(plain ? text : std::string_view());
  std::ranges::replace(uid, '_', '-');
  return uid;
}

// "kubepods-besteffort-podUID.slice", also with other slices' names in front ("kubelet-kubepods-...").
Answer pod_slice(std::string_view name) {
  if (!take_suffix(name, ".slice")) return std::nullopt;
  for (std::size_t at = name.find("kubepods-"); at != name.npos; at = name.find("kubepods-", at + 1)) {
    if (at != 0 && name[at - 1] != '-') continue;
    std::string_view rest = name.substr(at + 9);
    if (const auto dash = rest.find('-'); is_qos(rest.substr(0, dash)) && dash != rest.npos)
      rest.remove_prefix(dash + 1);
    if (!take_prefix(rest, "pod")) continue;
    if (std::string uid = pod_uid(rest, '_'); !uid.empty()) return pod("kubernetes", std::move(uid));
  }
  const auto podman = name.rfind("-libpod_pod_");
  if (podman == name.npos) return std::nullopt;
  const std::string_view id = name.substr(podman + 12);
  return is_runtime_id(id) ? Answer(pod("podman", std::string(id))) : std::nullopt;
}

// "/kubepods/besteffort/podUID", "/kubepods/podUID".
Answer pod_group(const AboveCgroup& above, std::string_view name) {
  const bool below_kubepods =
      above.parent == "kubepods" || (is_qos(above.parent) && above.grandparent == "kubepods");
  if (!below_kubepods || !take_prefix(name, "pod")) return std::nullopt;
  std::string uid = pod_uid(name, '-');
  return uid.empty() ? Answer() : pod("kubernetes", std::move(uid));
}

// "SLICE:cri-containerd:ID": containerd was given a systemd path but manages cgroups itself.
Answer colon_form(std::string_view name) {
  const auto last = name.rfind(':');
  if (last == name.npos || last == 0) return std::nullopt;
  const auto before = name.rfind(':', last - 1);
  if (before == name.npos) return std::nullopt;
  Answer found = runtime_scope(name.substr(before + 1));
  if (!found) return std::nullopt;
  if (Answer slice = pod_slice(name.substr(0, before))) found->pod = std::move(slice->id);
  return found;
}

Answer lxc(const AboveCgroup& above, std::string_view name) {
  if (const auto text = between("lxc.payload.", name, ""); !text.empty()) return container("lxc", text, text);
  if (const auto text = between("lxc.monitor.", name, ""); !text.empty())
    return monitor_of(container("lxc", text, text));
  if (name_unit(name).is_unit) return std::nullopt;
  if (above.parent == "lxc" || above.parent == "lxc.payload") return container("lxc", name, name);
  if (above.parent == "lxc.monitor") return monitor_of(container("lxc", name, name));
  return std::nullopt;
}

struct LibvirtName {
  std::string_view number;
  std::string_view name;
};

// "6-cirros", "alice-6-cirros", "embed-0123abcd-6-cirros": the first field of digits is the domain's id. The
// name may be empty: libvirt leaves out every character that a host name cannot have.
std::optional<LibvirtName> libvirt_name(std::string_view text) {
  if (take_prefix(text, "embed-")) take_until(text, '-');  // a hash
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view field = take_until(rest, '-');
    if (is_digits(field)) return LibvirtName{field, rest};
  }
  return std::nullopt;
}

// A VM or LXC container by the name that its creator gave it: libvirt's drivers put theirs in front.
Answer libvirt_domain(std::string_view text) {
  Answer found;
  if (take_prefix(text, "qemu-")) {
    // libvirt before 1.3.3 had no id in it.
    const LibvirtName name = libvirt_name(text).value_or(LibvirtName{{}, text});
    found = vm(Hypervisor::kKvm, name.number, name.name);
  } else if (take_prefix(text, "ch-")) {
    const auto name = libvirt_name(text);
    if (name) found = vm(Hypervisor::kCloudHypervisor, name->number, name->name);
  } else if (take_prefix(text, "lxc-")) {
    const auto name = libvirt_name(text);
    if (name) found = container("lxc", name->name.empty() ? text : name->name, name->name);
  }
  if (found) found->name_exact = false;
  return found;
}

// systemd-machined's "machine-NAME.scope": libvirt's, else systemd-nspawn's when run by hand. And the
// services of systemd-nspawn and systemd-vmspawn.
Answer machined_name(std::string_view name) {
  if (const auto text = between("machine-", name, ".scope"); !text.empty()) {
    const std::string vm_name = decode_unit_escapes(text);
    if (Answer libvirt = libvirt_domain(vm_name)) return libvirt;
    return container("nspawn", vm_name, vm_name);
  }
  if (const auto text = between("systemd-nspawn@", name, ".service"); !text.empty()) {
    const std::string instance = decode_unit_escapes(text);
    return container("nspawn", instance, instance);
  }
  if (const auto text = between("systemd-vmspawn@", name, ".service"); !text.empty())
    return vm(Hypervisor::kKvm, {}, decode_unit_escapes(text));
  return std::nullopt;
}

// systemd-nspawn's by hand since systemd 26x: "machine.slice/NAME.scope/payload". The scope alone might be
// anything's, such as systemd-vmspawn's.
Answer nspawn_payload(const AboveCgroup& above, std::string_view name) {
  const auto vm_name = between("", above.parent, ".scope");
  if (name != "payload" || above.grandparent != "machine.slice" || vm_name.empty()) return std::nullopt;
  const std::string id = decode_unit_escapes(vm_name);
  return container("nspawn", id, id);
}

// libvirt's "/machine/NAME.libvirt-qemu" where there is no systemd, and Proxmox's "qemu.slice/ID.scope".
Answer other_vm(const AboveCgroup& above, std::string_view name) {
  if (const auto text = between("", name, ".libvirt-qemu"); !text.empty())
    return text.starts_with("qemu-") ? libvirt_domain(text) : vm(Hypervisor::kKvm, {}, text);
  if (const auto text = between("", name, ".libvirt-lxc"); !text.empty()) {
    Answer libvirt = text.starts_with("lxc-") ? libvirt_domain(text) : Answer();
    return libvirt ? libvirt : container("lxc", text, text);
  }
  if (const auto text = between("", name, ".scope"); above.parent == "qemu.slice" && is_digits(text))
    return vm(Hypervisor::kKvm, text, {});
  return std::nullopt;
}

// "nomad.slice/share.slice/ALLOCATION.TASK.scope".
Answer nomad_task(const AboveCgroup& above, std::string_view name) {
  if (!above.in_nomad) return std::nullopt;
  take_suffix(name, ".scope");
  if (name.size() < 38 || name[36] != '.' || canonical_uuid(name.substr(0, 36)).empty()) return std::nullopt;
  return container("nomad", name, name.substr(37));
}

}  // namespace

Answer recognise_name(const AboveCgroup& above, std::string_view name) {
  if (Answer found = runtime_scope(name)) return found;
  if (Answer found = colon_form(name)) return found;
  if (Answer found = bare_id(above, name)) return found;
  if (Answer found = pod_slice(name)) return found;
  if (Answer found = pod_group(above, name)) return found;
  if (Answer found = machined_name(name)) return found;
  if (Answer found = nspawn_payload(above, name)) return found;
  if (Answer found = other_vm(above, name)) return found;
  if (Answer found = nomad_task(above, name)) return found;
  return lxc(above, name);
}

}  // namespace keplerd
