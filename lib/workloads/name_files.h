// SPDX-License-Identifier: Apache-2.0
// Names of containers, pods and guests in what docker, podman, kubelet and Proxmox leave in files. No I/O.
// All names come out escaped by escape_name, after a cut to 255 bytes. What is malformed has no names.
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

// By what they name: a container's id, a pod's UID.
template <class Name>
using NamesById = std::map<std::string, Name, std::less<>>;
template <class Name>
using NameById = std::pair<std::string, Name>;

// Of config.v2.json, {...,"Name":"/web",...}: "web".
std::optional<std::string> parse_docker_name(std::string_view json);

// Of containers.json, [{"id":"64 digits","names":["web",...],...},...]: the first name of each, but of no
// more than `most` containers.
NamesById<std::string> parse_podman_names(std::string_view json, std::size_t most);

// A directory in /var/log/pods, "NAMESPACE_NAME_UID".
std::optional<NameById<PodName>> parse_pod_directory(std::string_view name);

// A file in /var/log/containers, "POD_NAMESPACE_CONTAINER-ID.log". Kubelet cuts these names at 255 bytes, and
// with them the ids of containers in pods with very long names.
std::optional<NameById<std::string>> parse_container_log(std::string_view name);

// The value of the line "KEY: VALUE" of a guest's configuration ("name" of a VM, "hostname" of a
// container), as it runs: the sections of its snapshots follow.
std::optional<std::string> parse_proxmox_value(std::string_view conf, std::string_view key);

}  // namespace keplerd
