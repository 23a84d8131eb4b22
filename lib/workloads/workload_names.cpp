// SPDX-License-Identifier: Apache-2.0
#include "workloads/workload_names.h"

#include "workloads/identifier.h"

namespace keplerd {
namespace {

constexpr std::size_t kDockerLimit = 1 << 20;

// Proxmox's are 100 to 999999999.
bool is_guest_number(std::string_view text) { return is_digits(text) && text.size() <= 9; }

std::optional<std::string> name_of_link(std::string_view target) {
  if (target.empty() || target.find('/') != target.npos) return std::nullopt;
  return limited_name(target);
}

}  // namespace

WorkloadNames::WorkloadNames(const HostRoot& host)
    : docker_(host.root(), {.directory = "var/lib/docker/containers",
                            .file = "/config.v2.json",
                            .limit = kDockerLimit,
                            .parse = parse_docker_name}),
      // A link for each unit with a machine in it, which is what sd_pid_get_machine_name(3) reads.
      machined_(host.root(), {.directory = "run/systemd/machines",
                              .prefix = "unit:",
                              .is_link = true,
                              .parse = [](auto target) { return name_of_link(target); }}),
      proxmox_(host.root()),
      podman_(host.root()),
      pods_(host.root(), "var/log/pods", parse_pod_directory),
      pod_containers_(host.root(), "var/log/containers", parse_container_log) {}

std::optional<std::string> WorkloadNames::container(std::string_view runtime, std::string_view id) {
  if (runtime == "lxc") return is_guest_number(id) ? proxmox_.container(now_, id) : std::nullopt;
  return is_runtime_id(id) ? found_by_id(runtime, id) : std::nullopt;
}

std::optional<std::string> WorkloadNames::found_by_id(std::string_view runtime, std::string_view id) {
  if (runtime == "containerd" || runtime == "crio" || runtime == "kubernetes")
    return pod_containers_.name(now_, id);
  if (runtime == "podman") return podman_.name(now_, id);
  if (runtime == "ecs") return docker_.name(now_, id);
  if (runtime == "docker") {
    // Docker itself calls one of kubelet's containers "k8s_CONTAINER_POD_NAMESPACE_UID_0".
    auto name = pod_containers_.name(now_, id);
    return name ? name : docker_.name(now_, id);
  }
  if (runtime == "unknown") {  // in a place of the administrator's choice: --cgroup-parent
    auto name = docker_.name(now_, id);
    return name ? name : podman_.name(now_, id);
  }
  return std::nullopt;
}

std::optional<PodName> WorkloadNames::pod(std::string_view uid) {
  return is_runtime_id(uid) ? std::nullopt : pods_.name(now_, uid);  // podman's pods have such ids
}

std::optional<std::string> WorkloadNames::proxmox_guest(std::string_view number) {
  return is_guest_number(number) ? proxmox_.guest(now_, number) : std::nullopt;
}

std::optional<std::string> WorkloadNames::machined(std::string_view unit) {
  return unit.empty() || unit.find('/') != unit.npos ? std::nullopt : machined_.name(now_, unit);
}

void WorkloadNames::end() {
  docker_.end();
  machined_.end();
  proxmox_.end();
  podman_.end();
  pods_.end();
  pod_containers_.end();
}

}  // namespace keplerd
