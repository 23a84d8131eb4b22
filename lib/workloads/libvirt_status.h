// SPDX-License-Identifier: Apache-2.0
// Parses the status that libvirt's QEMU driver keeps of each running VM: /run/libvirt/qemu/NAME.xml. No I/O.
//
// The file holds the VM's whole definition, passwords included. Only what is declared here is extracted, and
// nothing else.
//
// Sources: libvirt's src/conf/domain_conf.c (virDomainObjFormat) and docs/formatdomain; nova's
// nova/virt/libvirt/config.py (LibvirtConfigGuestMetaNovaInstance); kubevirt.io's api/domain schema.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "workloads/vm_metadata.h"

namespace keplerd {

struct LibvirtStatus {
  std::string uuid;    // lower case
  std::string name;    // escaped, as the next three
  std::string title;   // empty where it has none
  std::string state;   // "running", "paused", "shutdown" (on its way), "crashed", "pmsuspended"
  std::string reason;  // of the state: "booted", "migrated", "restored", "user"
  std::int32_t pid = 0;
  std::optional<int> vcpus;
  std::optional<std::int64_t> memory;        // bytes; what it may use at most
  std::map<std::int32_t, int> vcpu_threads;  // thread id -> number of the vCPU
  VmMetadata metadata;
  bool of_session = false;  // not in the file: from a user's session libvirt

  bool operator==(const LibvirtStatus&) const = default;
};

// Fails if `xml` is not such a status, or has neither a UUID nor a pid. A document type, which libvirt never
// writes, is an error: no entities are expanded here.
Result<LibvirtStatus> parse_libvirt_status(std::string_view xml);

}  // namespace keplerd
