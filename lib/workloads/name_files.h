// SPDX-License-Identifier: Apache-2.0
// Extracts names of containers, pods and guests from files of docker, podman, kubelet and Proxmox. No I/O.
// All names are cut to 255 bytes, then escaped by escape_name. Malformed input has no names.
//
// Sources: docker's daemon/container/container.go (config.v2.json), containers/storage's containers.go
// (containers.json), kubelet's pkg/kubelet/kuberuntime/{helpers,legacy}.go (names below /var/log), Proxmox's
// PVE/AbstractConfig.pm.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace keplerd {

struct PodName {
  std::string name;
  std::string name_space;

  bool operator==(const PodName&) const = default;
};

// By the object named: a container's id, a pod's UID.
template <class Name>
using NamesById = std::map<std::string, Name, std::less<>>;
template <class Name>
using NameById = std::pair<std::string, Name>;

// From config.v2.json, {...,"Name":"/web",...}: "web".
std::optional<std::string> parse_docker_name(std::string_view json);

// From containers.json, [{"id":"64 digits","names":["web",...],...},...]: the first name of each container,
// for at most `most` of them.
NamesById<std::string> parse_podman_names(std::string_view json, std::size_t most);

// A directory in /var/log/pods, "NAMESPACE_NAME_UID".
std::optional<NameById<PodName>> parse_pod_directory(std::string_view name);

// A file in /var/log/containers, "POD_NAMESPACE_CONTAINER-ID.log". Kubelet truncates these names to 255
// bytes, and with them the container ids in pods with very long names.
std::optional<NameById<std::string>> parse_container_log(std::string_view name);

// The value of the line "KEY: VALUE" of a guest's present configuration ("name" of a VM, "hostname" of a
// container); the sections of its snapshots, which follow, are ignored.
std::optional<std::string> parse_proxmox_value(std::string_view conf, std::string_view key);

}  // namespace keplerd
