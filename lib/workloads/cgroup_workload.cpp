// SPDX-License-Identifier: Apache-2.0
#include "workloads/cgroup_workload.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/parse.h"
#include "workloads/identifier.h"

namespace keplerd {
namespace {

struct Around {  // what the path above a cgroup determines
  std::string_view parent;
  std::string_view grandparent;
  bool in_ecs = false;
  bool in_nomad = false;
  std::string pod;           // the pod of a container here
  bool pod_is_here = false;  // the parent is that pod
};

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
Answer bare_id(const Around& around, std::string_view name) {
  const bool fargate = around.in_ecs && name.size() > 33 && name[32] == '-' &&
                       is_hexadecimal(name.substr(0, 32)) && is_digits(name.substr(33));
  if (fargate) return container("ecs", name);
  if (!is_runtime_id(name)) return std::nullopt;
  if (around.parent == "libpod_parent") return pod("podman", std::string(name));
  if (around.parent == "docker") return container("docker", name);
  if (around.pod_is_here) return container("kubernetes", name);
  if (around.in_ecs) return container("ecs", name);
  static constexpr std::array<std::string_view, 4> kContainerd = {"containerd", "default", "k8s.io", "moby"};
  const bool containerd = std::ranges::find(kContainerd, around.parent) != kContainerd.end();
  return container(containerd ? "containerd" : "unknown", name);
}

bool is_qos(std::string_view name) { return name == "besteffort" || name == "burstable"; }

// A UID consisting only of letters, digits, "-" and (in a slice, for "-") "_"; else empty.
std::string pod_uid(std::string_view text, char dash) {
  const bool plain = std::ranges::all_of(text, [dash](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == dash;
  });
  std::string uid(plain ? text : std::string_view());
  std::ranges::replace(uid, '_', '-');
  return uid;
}

// "kubepods-besteffort-podUID.slice", also after the names of other slices ("kubelet-kubepods-...").
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
Answer pod_group(const Around& around, std::string_view name) {
  const bool below_kubepods =
      around.parent == "kubepods" || (is_qos(around.parent) && around.grandparent == "kubepods");
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

Answer lxc(const Around& around, std::string_view name) {
  if (const auto text = between("lxc.payload.", name, ""); !text.empty()) return container("lxc", text, text);
  if (const auto text = between("lxc.monitor.", name, ""); !text.empty())
    return monitor_of(container("lxc", text, text));
  if (name_unit(name).is_unit) return std::nullopt;
  if (around.parent == "lxc" || around.parent == "lxc.payload") return container("lxc", name, name);
  if (around.parent == "lxc.monitor") return monitor_of(container("lxc", name, name));
  return std::nullopt;
}

struct LibvirtName {
  std::string_view number;
  std::string_view name;
};

// "6-cirros", "alice-6-cirros", "embed-0123abcd-6-cirros": the first numeric field is the domain's id. The
// name may be empty: libvirt drops every character that is invalid in a host name.
std::optional<LibvirtName> libvirt_name(std::string_view text) {
  if (take_prefix(text, "embed-")) take_until(text, '-');  // a hash
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view field = take_until(rest, '-');
    if (is_digits(field)) return LibvirtName{field, rest};
  }
  return std::nullopt;
}

// A VM or LXC container by the name that its creator gave it; libvirt's drivers prepend their own.
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

// The name that a unit's name was derived from. Empty if it contains a "/": ids use that as a separator
// between nested containers, and machines are named like hosts.
std::optional<std::string> decode_machine(std::string_view text) {
  std::string name = decode_unit_escapes(text);
  if (name.empty() || name.find('/') != name.npos) return std::nullopt;
  return name;
}

// systemd-machined's "machine-NAME.scope": libvirt's, else systemd-nspawn's when run manually. Also the
// services of systemd-nspawn and systemd-vmspawn.
Answer machined_name(std::string_view name) {
  if (const auto machine = decode_machine(between("machine-", name, ".scope"))) {
    if (Answer libvirt = libvirt_domain(*machine)) return libvirt;
    return container("nspawn", *machine, *machine);
  }
  if (const auto instance = decode_machine(between("systemd-nspawn@", name, ".service")))
    return container("nspawn", *instance, *instance);
  if (const auto instance = decode_machine(between("systemd-vmspawn@", name, ".service")))
    return vm(Hypervisor::kKvm, {}, *instance);
  return std::nullopt;
}

// systemd-nspawn run manually since systemd 26x: "machine.slice/NAME.scope/payload". The scope alone might
// belong to anything, such as systemd-vmspawn.
Answer nspawn_payload(const Around& around, std::string_view name) {
  if (name != "payload" || around.grandparent != "machine.slice") return std::nullopt;
  const auto machine = decode_machine(between("", around.parent, ".scope"));
  return machine ? Answer(container("nspawn", *machine, *machine)) : std::nullopt;
}

// libvirt's "/machine/NAME.libvirt-qemu" without systemd, and Proxmox's "qemu.slice/ID.scope".
Answer other_vm(const Around& around, std::string_view name) {
  if (const auto text = between("", name, ".libvirt-qemu"); !text.empty())
    return text.starts_with("qemu-") ? libvirt_domain(text) : vm(Hypervisor::kKvm, {}, text);
  if (const auto text = between("", name, ".libvirt-lxc"); !text.empty()) {
    Answer libvirt = text.starts_with("lxc-") ? libvirt_domain(text) : Answer();
    return libvirt ? libvirt : container("lxc", text, text);
  }
  if (const auto text = between("", name, ".scope"); around.parent == "qemu.slice" && is_digits(text))
    return vm(Hypervisor::kKvm, text, {});
  return std::nullopt;
}

// "nomad.slice/share.slice/ALLOCATION.TASK.scope".
Answer nomad_task(const Around& around, std::string_view name) {
  if (!around.in_nomad) return std::nullopt;
  take_suffix(name, ".scope");
  if (name.size() < 38 || name[36] != '.' || canonical_uuid(name.substr(0, 36)).empty()) return std::nullopt;
  return container("nomad", name, name.substr(37));
}

Answer recognise(const Around& around, std::string_view name) {
  if (Answer found = runtime_scope(name)) return found;
  if (Answer found = colon_form(name)) return found;
  if (Answer found = bare_id(around, name)) return found;
  if (Answer found = pod_slice(name)) return found;
  if (Answer found = pod_group(around, name)) return found;
  if (Answer found = machined_name(name)) return found;
  if (Answer found = nspawn_payload(around, name)) return found;
  if (Answer found = other_vm(around, name)) return found;
  if (Answer found = nomad_task(around, name)) return found;
  return lxc(around, name);
}

// Walks down a path, one cgroup at a time.
class Descent {
 public:
  // `line`: as recognise_cgroup takes it.
  explicit Descent(std::string_view line) : path_(without_hierarchy(line)) {}

  // Moves to the next cgroup; false at the end.
  bool next() {
    const auto begin = path_.find_first_not_of('/', end_);
    if (begin == path_.npos) return false;
    end_ = std::min(path_.find('/', begin), path_.size());
    step(path_.substr(begin, end_ - begin));
    return true;
  }

  CgroupWorkload& here() { return here_; }
  std::string_view path() const { return path_.substr(0, end_); }

 private:
  // Strips "0::" or "13:hugetlb:" from a path; a relative path that merely starts like one is left as it is.
  static std::string_view without_hierarchy(std::string_view line) {
    std::string_view rest = line;
    if (line.starts_with('/') || !is_digits(take_until(rest, ':')) || rest.find(':') == rest.npos)
      return line;
    take_until(rest, ':');
    return rest.starts_with('/') ? rest : line;
  }

  void step(std::string_view name) {
    UnitName group = name_unit(name);
    Answer found = recognise(around_, name);
    if (found) {
      here_ = std::move(*found);
      if (here_.kind == CgroupKind::kContainer && here_.pod.empty()) here_.pod = around_.pod;
    } else {
      here_ =
          CgroupWorkload{.kind = group.is_unit ? CgroupKind::kUnit : CgroupKind::kGroup, .name = group.name};
    }
    here_.group = std::move(group);
    go_below(name, found.has_value());
  }

  // For the next cgroup: inside a container or a VM, nothing outside matters.
  void go_below(std::string_view name, bool is_workload) {
    if (is_workload) {
      const bool is_pod = here_.kind == CgroupKind::kPod;
      around_ = Around{.pod = is_pod ? here_.id : std::string(), .pod_is_here = is_pod};
      return;
    }
    around_.grandparent = around_.parent;
    around_.parent = name;
    around_.pod_is_here = false;
    around_.in_ecs = around_.in_ecs || name == "ecs";
    around_.in_nomad = around_.in_nomad || name == "nomad.slice" || name == "nomad";
  }

  std::string_view path_;
  std::size_t end_ = 0;
  Around around_;
  CgroupWorkload here_{.name = "/"};
};

}  // namespace

CgroupWorkload recognise_cgroup(std::string_view path) {
  Descent descent(path);
  while (descent.next()) {
  }
  return std::move(descent.here());
}

std::vector<EnclosingWorkload> enclosing_workloads(std::string_view path) {
  std::vector<EnclosingWorkload> chain;
  Descent descent(path);
  while (descent.next()) {
    const CgroupKind kind = descent.here().kind;
    if (kind == CgroupKind::kGroup || kind == CgroupKind::kUnit) continue;
    chain.push_back({descent.path(), descent.here()});
  }
  return chain;
}

}  // namespace keplerd
