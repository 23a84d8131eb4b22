// SPDX-License-Identifier: Apache-2.0
// Replaces the names of workloads by keyed hashes. What a name says about the kind of its workload stays:
// that it is a slice, a service, a container of docker, a VM of libvirt. The same name has the same
// replacement, as long as the key is the same; without the key, names cannot be guessed.
#pragma once

#include <string>
#include <string_view>

#include "trace/keyed_hash.h"

namespace keplerd {

class NameScrambler {
 public:
  explicit NameScrambler(const HashKey& key) : key_(key) {}

  // Of a cgroup: "/system.slice/x2f63a08d7a0e9d1c.service" for "/system.slice/web.service".
  std::string path(std::string_view path) const;
  // Of a VM: another UUID for a UUID.
  std::string id(std::string_view id) const { return text(id); }

 private:
  std::string component(std::string_view name) const;
  std::string text(std::string_view text) const;
  std::string number(std::string_view digits) const;
  std::string hexadecimal(std::string_view text) const;

  HashKey key_;
};

}  // namespace keplerd
