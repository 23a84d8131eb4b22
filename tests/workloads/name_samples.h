// SPDX-License-Identifier: Apache-2.0
// Files as docker, podman and Proxmox write them, without what is not read.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace keplerd {

// config.v2.json: one line without a newline.
inline std::string docker_config(std::string_view id, std::string_view name) {
  return fmt::format(
      R"({{"StreamConfig":{{}},"State":{{"Running":true,"Paused":false,"Restarting":false,"OOMKilled":false,)"
      R"("RemovalInProgress":false,"Dead":false,"Pid":4711,"ExitCode":0,"Error":"",)"
      R"("StartedAt":"2024-05-02T08:15:30.123456789Z","FinishedAt":"0001-01-01T00:00:00Z","Health":null}},)"
      R"("ID":"{}","Created":"2024-05-02T08:15:29.987654321Z","Managed":false,"Path":"/docker-entrypoint.sh",)"
      R"("Args":["nginx","-g","daemon off;"],"Config":{{"Hostname":"0123456789ab","Domainname":"","User":"",)"
      R"("ExposedPorts":{{"80/tcp":{{}}}},"Tty":false,"Env":["PATH=/usr/sbin:/usr/bin","NGINX_VERSION=1.25.5"],)"
      R"("Cmd":["nginx","-g","daemon off;"],"Image":"nginx","Volumes":null,"OnBuild":null,"Labels":{{}}}},)"
      R"("Image":"sha256:2ac752d7aeb1d9281f708e7c51501c41baf90de15ffc9bca7c5d38b8da41b580",)"
      R"("NetworkSettings":{{"Bridge":"","Networks":{{"bridge":{{"Links":null,"GlobalIPv6PrefixLen":0}}}}}},)"
      R"("LogPath":"/var/lib/docker/containers/{}/{}-json.log","Name":"{}","Driver":"overlay2","OS":"linux",)"
      R"("RestartCount":0,"HasBeenStartedBefore":true,"MountPoints":{{}},"SecretReferences":null}})",
      id, id, id, name);
}

// containers.json: one line without a newline.
inline std::string podman_list(const std::vector<std::pair<std::string, std::string>>& containers) {
  std::string text;
  for (const auto& [id, name] : containers) {
    text += fmt::format(
        R"({}{{"id":"{}","names":["{}"],"image":"a99a39d070bfd1cb60fe65c45dea3a33764dc00a9546bf8dc46cb5a11b1b50e9",)"
        R"("layer":"0c2c8b4ab2ab5ad8a2f9a1d9bb6bd1d1b1d6c31e5fd7f1b5d9c0ff4d1cbbd3f1",)"
        R"("metadata":"{{\"image-name\":\"docker.io/library/nginx:latest\",\"name\":\"{}\",)"
        R"(\"created-at\":1714637730,\"mountlabel\":\"\"}}","created":"2024-05-02T08:15:30.5Z",)"
        R"("flags":{{"MountLabel":"","ProcessLabel":""}}}})",
        text.empty() ? "" : ",", id, name, name);
  }
  return "[" + text + "]";
}

inline constexpr std::string_view kQemuConf =
    "#name%3A not this one\n"
    "agent: 1\n"
    "boot: order=scsi0;ide2;net0\n"
    "cores: 4\n"
    "memory: 8192\n"
    "name: web\n"
    "net0: virtio=BC:24:11:0A:0B:0C,bridge=vmbr0,firewall=1\n"
    "parent: before\n"
    "scsi0: local-lvm:vm-100-disk-0,iothread=1,size=32G\n"
    "smbios1: uuid=df12672f-fedb-4f6f-9d51-0166868835fb\n"
    "vmgenid: 0a1b2c3d-0001-0002-0003-000000000004\n"
    "\n"
    "[before]\n"
    "cores: 2\n"
    "name: old\n"
    "snaptime: 1714637730\n";

inline constexpr std::string_view kLxcConf =
    "arch: amd64\n"
    "cores: 1\n"
    "hostname: mail.example.org\n"
    "memory: 512\n"
    "net0: name=eth0,bridge=vmbr0,hwaddr=BC:24:11:0D:0E:0F,ip=dhcp,type=veth\n"
    "ostype: debian\n"
    "rootfs: local-lvm:vm-101-disk-0,size=8G\n"
    "swap: 512\n"
    "unprivileged: 1\n";

}  // namespace keplerd
