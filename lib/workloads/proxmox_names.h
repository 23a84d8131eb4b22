// SPDX-License-Identifier: Apache-2.0
// Names of Proxmox's guests and containers, from their configuration below etc/pve. That is a FUSE file
// system, pmxcfs, which blocks readers if its server hangs. So the files are read in the background, all due
// ones at once; until that is done, and while it hangs, the known names are kept.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/background.h"
#include "base/units.h"
#include "workloads/name_sources.h"

namespace keplerd {

class ProxmoxNames {
 public:
  explicit ProxmoxNames(int root) : root_(root) {}

  // Without one, files are read synchronously. It must outlive the last end().
  void set_background(Background* background) { background_ = background; }

  // `number` becomes part of a path: the caller must validate it.
  std::optional<std::string> container(Nanoseconds now, std::string_view number) {
    return name(now, "lxc/" + std::string(number));
  }
  std::optional<std::string> guest(Nanoseconds now, std::string_view number) {
    return name(now, "qemu-server/" + std::string(number));
  }
  void end();

 private:
  class Directories;
  struct File {
    LastCheck checked;
    NameFile content;
    bool due = false;  // to be read by the next job
  };
  struct Reading {
    std::string id;
    NameFile content;  // before; then as just read
  };

  std::optional<std::string> name(Nanoseconds now, const std::string& id);
  void start_reading();

  int root_;
  Background* background_ = nullptr;
  // By "DIRECTORY/NUMBER". A job that ends after this object was destroyed does not access them.
  std::shared_ptr<AskedFiles<File>> files_ = std::make_shared<AskedFiles<File>>();
};

}  // namespace keplerd
